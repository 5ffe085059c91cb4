// The text of the last failure, one a thread.
#include "failure.h"

#include <cstdarg>

namespace gn_host {

std::string Text(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  return text;
}

Outcome Null(const std::string& text, const std::string& hint) { return {GN_ERR_PARAM_NULLPTR, text, "", hint}; }
Outcome Invalid(const std::string& text, const std::string& hint) { return {GN_ERR_PARAM_INVALID, text, "", hint}; }

namespace {

thread_local std::string recent, shown;

}  // namespace

GnStatus Tell(const Outcome& outcome) {
  try {
    recent = outcome.text.empty() ? "there is not enough memory" : outcome.text;  // not even for a text, then
    if (!outcome.where.empty()) recent += "\n  where: " + outcome.where;
    if (!outcome.hint.empty()) recent += "\n  hint:  " + outcome.hint;
  } catch (const std::bad_alloc&) {
    recent.clear();  // the code is all that is left to say
  }
  return outcome.code;
}

}  // namespace gn_host

extern "C" const char* GnGetRecentErrMsg(void) {
  using namespace gn_host;
  if (recent.empty()) return nullptr;
  shown.swap(recent);
  recent.clear();
  return shown.c_str();
}
