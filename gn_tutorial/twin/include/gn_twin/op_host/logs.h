// Keeps the log of an operator's host code. A tiling function only returns "failed"; the last error line of the log
// says why.
//
// The process has one list of lines. The driver runs each tiling function in a process of its own, so nothing has to be
// reset.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace gn_twin::op_host {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

constexpr const char* NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "";
}

struct LogLine {
  LogLevel level;
  std::string text;
  const char* file = "";  // where the line was logged; empty if that is not known
  int line = 0;
};

inline std::vector<LogLine>& Logs() {
  static std::vector<LogLine> lines;
  return lines;
}

// Debug lines in a loop over a tensor's rows would fill the memory, so after kMostLogLines lines only errors are kept.
constexpr size_t kMostLogLines = 10000;

inline void Log(LogLevel level, std::string text, const char* file = "", int line = 0) {
  if (level == LogLevel::kError || Logs().size() < kMostLogLines)
    Logs().push_back({level, std::move(text), file, line});
}

}  // namespace gn_twin::op_host
