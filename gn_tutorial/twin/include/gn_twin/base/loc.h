// A place in the learner's source.
#pragma once
#include <stdint.h>

namespace gn_twin {

// Operations take a trailing `Loc loc = Loc::here()`. The defaults of here() are evaluated where the operation is called;
// an inline `Loc{__builtin_FILE()}` default would name this header on g++.
struct Loc {
  const char* file = "";
  uint32_t line = 0;

  static constexpr Loc here(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace gn_twin
