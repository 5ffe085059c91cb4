// A place in the learner's source: file and line.
#pragma once
#include <stdint.h>

namespace gn_twin {

// The last parameter of every operation is `Loc loc = Loc::here()`. The default arguments of here() are evaluated where
// the operation is called. With `Loc{__builtin_FILE()}` as the default, g++ would name the twin's header.
struct Loc {
  const char* file = "";
  uint32_t line = 0;

  static constexpr Loc here(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace gn_twin
