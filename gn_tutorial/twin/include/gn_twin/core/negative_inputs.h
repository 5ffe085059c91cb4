// Negative inputs of Sqrt, Rsqrt and Ln, which give NaN, and inputs of Exp that give infinity: recorded here, and
// reported if NaN is stored later.
#pragma once
#include <stdint.h>

#include "gn_twin/base/loc.h"

namespace gn_twin {

// The records of one block. Lanes whose results are never used are computed too: a negative number there is not a
// mistake by itself.
struct NegativeInputs {
  struct Note {
    const char* op = "";
    Loc loc;
    uint64_t index = 0;           // place of the first one
    float value = 0.0f;           // and its value
    const uint8_t* at = nullptr;  // destination of this line's latest result
    bool reported = false;
  };
  static constexpr uint32_t kMost = 4;  // lines; more are not distinguished

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
  // The record that explains NaN in the bytes [begin, end): the one whose result lies there, or else the latest.
  Note& OneOf(const uint8_t* begin, const uint8_t* end) {
    for (uint32_t i = 0; i < count; ++i)
      if (notes[i].at >= begin && notes[i].at < end) return notes[i];
    return notes[latest];
  }
};

}  // namespace gn_twin
