// The log and check macros of operator repositories. The lines are kept (logs.h). If a host function fails, the last
// error line is given as the reason.
//
// Source: op_common's log macros in the list of operator interfaces (aolapi, op_common, log): the first argument is a
// name or a context, followed by a printf format; the macros for invalid parameters take names, actual values, and
// expected values or a reason. Other macros follow their use in the operators of ops-nn.
#pragma once
#include "gn_twin/host/graph_types.h"
#include "gn_twin/op_host/log_format.h"
#include "gn_twin/op_host/logs.h"

namespace gn_twin::op_host {

template <class Source, class... Rest>
void LogFrom(LogLevel level, const char* file, int line, const Source& source, const Rest&... rest) {
  std::string text = SourceName(source);
  std::vector<LogArgument> arguments{ArgumentOf(rest)...};
  if (!arguments.empty()) {
    const std::string format = arguments.front().text;
    arguments.erase(arguments.begin());
    text += (text.empty() ? "" : ": ") + Formatted(format, arguments);
  }
  Log(level, std::move(text), file, line);
}

// Logs an error such as "RmsNorm: dtype of x is DT_INT8; it should be float". The last argument is the expected value,
// or the reason; names and actual values come before it.
template <class Source, class... Rest>
void LogInvalid(const char* file, int line, const char* what, bool reason, const Source& source, const Rest&... rest) {
  std::vector<LogArgument> arguments{ArgumentOf(rest)...};
  std::vector<std::string> texts;
  for (const LogArgument& argument : arguments) texts.push_back(Converted("", 's', argument));
  std::string text = SourceName(source) + ": " + what;
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool last = i + 1 == texts.size(), actual = i + 2 == texts.size();
    text += last ? (reason ? ": " : "; it should be ") : actual ? " is " : i == 0 ? " of " : ", ";
    text += texts[i];
  }
  Log(LogLevel::kError, std::move(text), file, line);
}

}  // namespace gn_twin::op_host

namespace Ops::Base {

// Returns the name at the beginning of log lines: the name of a context, or the given name.
template <class Source>
std::string GetOpInfo(const Source& source) {
  return gn_twin::op_host::SourceName(source);
}
inline std::string GetSafeStr(const std::string& text) { return text; }
inline std::string GetSafeStr(const char* text) { return text == nullptr ? "nil" : text; }

}  // namespace Ops::Base

// Macros of operator repositories wrap conditions in these two functions.
constexpr bool unlikely(bool condition) { return condition; }
constexpr bool likely(bool condition) { return condition; }

#define GNT_LOG(LEVEL, ...) \
  gn_twin::op_host::LogFrom(gn_twin::op_host::LogLevel::LEVEL, __FILE__, __LINE__, __VA_ARGS__)
#define OP_LOGD(...) GNT_LOG(kDebug, __VA_ARGS__)
#define OP_LOGI(...) GNT_LOG(kInfo, __VA_ARGS__)
#define OP_LOGW(...) GNT_LOG(kWarning, __VA_ARGS__)
#define OP_LOGE(...) GNT_LOG(kError, __VA_ARGS__)
#define OP_EVENT(...) GNT_LOG(kInfo, __VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(...) GNT_LOG(kError, __VA_ARGS__)
#define D_OP_LOGD(...) GNT_LOG(kDebug, __VA_ARGS__)
#define D_OP_LOGI(...) GNT_LOG(kInfo, __VA_ARGS__)
#define D_OP_LOGW(...) GNT_LOG(kWarning, __VA_ARGS__)
#define D_OP_LOGE(...) GNT_LOG(kError, __VA_ARGS__)
#define REPORT_INNER_ERR_MSG(...) GNT_LOG(kError, __VA_ARGS__)

#define OP_CHECK_IF(CONDITION, LOG, RETURN) \
  do {                                      \
    if (CONDITION) {                        \
      LOG;                                  \
      RETURN;                               \
    }                                       \
  } while (0)
#define OP_CHECK_NULL_WITH_CONTEXT(CONTEXT, POINTER)    \
  do {                                                  \
    if ((POINTER) == nullptr) {                         \
      GNT_LOG(kError, CONTEXT, #POINTER " is nullptr"); \
      return ge::GRAPH_FAILED;                          \
    }                                                   \
  } while (0)

#define GNT_LOG_INVALID(WHAT, ...) gn_twin::op_host::LogInvalid(__FILE__, __LINE__, WHAT, false, __VA_ARGS__)
#define GNT_LOG_REASON(WHAT, ...) gn_twin::op_host::LogInvalid(__FILE__, __LINE__, WHAT, true, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE(...) GNT_LOG_INVALID("dtype", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT(...) GNT_LOG_INVALID("format", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE(...) GNT_LOG_INVALID("shape", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(...) GNT_LOG_INVALID("number of dims", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(...) GNT_LOG_INVALID("number of elements", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE(...) GNT_LOG_INVALID("value", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE(...) GNT_LOG_INVALID("length of the list", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM(...) GNT_LOG_INVALID("number of tensors", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_STRIDE(...) GNT_LOG_INVALID("stride", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR(...) GNT_LOG_INVALID("attribute", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(...) GNT_LOG_INVALID("length of the attribute", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(...) GNT_LOG_INVALID("dtype", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(...) GNT_LOG_INVALID("format", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(...) GNT_LOG_INVALID("shape", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPESIZE(...) GNT_LOG_INVALID("number of elements", __VA_ARGS__)

#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(...) GNT_LOG_REASON("dtype", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(...) GNT_LOG_REASON("dtype", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(...) GNT_LOG_REASON("format", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(...) GNT_LOG_REASON("format", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(...) GNT_LOG_REASON("shape", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(...) GNT_LOG_REASON("shape", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(...) GNT_LOG_REASON("number of dims", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(...) GNT_LOG_REASON("number of dims", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(...) GNT_LOG_REASON("number of elements", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(...) GNT_LOG_REASON("number of elements", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(...) GNT_LOG_REASON("value", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(...) GNT_LOG_REASON("value", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(...) GNT_LOG_REASON("configuration", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM_WITH_REASON(...) GNT_LOG_REASON("number of tensors", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(...) GNT_LOG_REASON("number of tensors", __VA_ARGS__)
