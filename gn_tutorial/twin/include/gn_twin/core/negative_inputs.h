// Records of inputs that lead to NaN: negative inputs of Sqrt, Rsqrt and Ln, the input 0 of Rsqrt and Ln, and inputs of
// Exp that give infinity. They are reported if NaN is stored later.
#pragma once
#include <stdint.h>

#include "gn_twin/base/loc.h"

namespace gn_twin {

// The records of one block. A record alone is no mistake, because an instruction also computes lanes whose results are
// never used.
struct NegativeInputs {
  struct Note {
    const char* op = "";
    Loc loc;
    uint64_t index = 0;           // index of the first such input in the call that made this line's record
    float value = 0.0f;           // value of that input
    const uint8_t* at = nullptr;  // destination of this line's latest result
    bool reported = false;
  };
  static constexpr uint32_t kMost = 4;  // lines with a record; further lines get none

  Note notes[kMost];
  uint32_t count = 0;
  uint32_t latest = 0;
  uint32_t pending = 0;  // not reported yet

  void Add(const Note& note) {
    for (uint32_t i = 0; i < count; ++i) {
      if (notes[i].loc.line != note.loc.line || notes[i].loc.file != note.loc.file) continue;
      notes[i].at = note.at;
      latest = i;
      return;
    }
    if (count == kMost) return;
    latest = count++;
    notes[latest] = note;
    ++pending;
  }
  // Returns the record that explains NaN in the bytes [begin, end): the first whose `at` lies there, or else the one
  // that was made or updated last.
  Note& OneOf(const uint8_t* begin, const uint8_t* end) {
    for (uint32_t i = 0; i < count; ++i)
      if (notes[i].at >= begin && notes[i].at < end) return notes[i];
    return notes[latest];
  }
};

}  // namespace gn_twin
