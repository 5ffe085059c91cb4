// Negative inputs of Sqrt, Rsqrt and Ln, whose results are NaN, and inputs of Exp whose results are infinite: noted where they occur, for a report if NaN is stored later.
#pragma once
#include <stdint.h>

#include "gn_twin/base/loc.h"

namespace gn_twin {

// Of one block. Lanes that nobody looks at are computed too: a negative number there is no mistake by itself.
struct NegativeInputs {
  struct Note {
    const char* op = "";
    Loc loc;
    uint64_t index = 0;           // of the first one
    float value = 0.0f;           // and what it is
    const uint8_t* at = nullptr;  // where the latest result of this line went
    bool reported = false;
  };
  static constexpr uint32_t kMost = 4;  // lines; those of more are not told apart

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
  // The one to blame for NaN in the bytes [begin, end): whose result lies there, or else the latest.
  Note& OneOf(const uint8_t* begin, const uint8_t* end) {
    for (uint32_t i = 0; i < count; ++i)
      if (notes[i].at >= begin && notes[i].at < end) return notes[i];
    return notes[latest];
  }
};

}  // namespace gn_twin
