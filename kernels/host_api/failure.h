// How a call says that it failed: a code, and a text that says what, where and what to do next.
#pragma once
#include <cstdio>
#include <new>
#include <string>

#include "gn_host_api.h"

namespace gn_host {

// What a step came to. `text` is what went wrong; `where` and `hint` may be empty.
struct Outcome {
  GnStatus code = GN_SUCCESS;
  std::string text, where, hint;

  bool Failed() const { return code != GN_SUCCESS; }
};

// As printf; one function, not a chain of std::string, because the compiler takes 10 s for those.
__attribute__((format(printf, 1, 2))) std::string Text(const char* format, ...);

Outcome Null(const std::string& text, const std::string& hint = "");
Outcome Invalid(const std::string& text, const std::string& hint = "");

// Keeps the text for GnGetRecentErrMsg of this thread, and returns the code.
GnStatus Tell(const Outcome& outcome);

// Runs the body of one function of the C interface. Nothing that C++ throws may reach a caller who knows no C++.
template <class Body>
GnStatus Guarded(const char* function, Body&& body) {
  try {
    Outcome outcome = body();
    if (outcome.Failed() && outcome.where.empty()) outcome.where = function;
    return outcome.Failed() ? Tell(outcome) : GN_SUCCESS;
  } catch (const std::bad_alloc&) {
    return Tell({GN_ERR_INNER, "there is not enough memory", function, "free memory, then call again"});
  } catch (const std::exception& error) {
    return Tell({GN_ERR_INNER, error.what(), function, ""});
  }
}

}  // namespace gn_host
