// The toolkit's own log functions, on which some operator repositories build their log macros: AlogRecord and its
// constants. AlogRecord's lines go into the log of logs.h, like those of log_macros.h.
//
// Source: names and numbers of base/alog_pub.h and base/err_msg.h as public repositories use them (cann-ops,
// common/inc/log).
#pragma once
#include "gn_twin/op_host/log_format.h"
#include "gn_twin/op_host/logs.h"

constexpr int DLOG_DEBUG = 0, DLOG_INFO = 1, DLOG_WARN = 2, DLOG_ERROR = 3, DLOG_EVENT = 16;
constexpr int DLOG_TYPE_DEBUG = 0, DLOG_TYPE_RUN = 1;
constexpr int OP = 63;  // the module of operators
#define MSG_LENGTH 1024
// The name of the logging component. A repository's CMake file may define it.
#ifndef OPS_UTILS_LOG_SUB_MOD_NAME
#define OPS_UTILS_LOG_SUB_MOD_NAME "OP"
#endif
#ifndef OPS_UTILS_LOG_PACKAGE_TYPE
#define OPS_UTILS_LOG_PACKAGE_TYPE ""
#endif

inline int AlogCheckDebugLevel(int, int) { return 1; }

template <class... Arguments>
void AlogRecord(int, int, int level, const char* format, const Arguments&... arguments) {
  using gn_twin::op_host::LogLevel;
  constexpr LogLevel kLevels[] = {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError};
  const std::vector<gn_twin::op_host::LogArgument> values{gn_twin::op_host::ArgumentOf(arguments)...};
  gn_twin::op_host::Log(level >= 0 && level < 4 ? kLevels[level] : LogLevel::kInfo,
                        gn_twin::op_host::Formatted(format, values));
}

// The error text for the operator's caller is dropped, because the log already has it.
#define REPORT_INNER_ERR_MSG(...) (static_cast<void>(0))
