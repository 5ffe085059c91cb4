// What the scalar unit of one core did to memory since observers were last told: a loop of GetValue and SetValue is too frequent for a
// call each.
//
// Accesses are kept and told many at a time. When a loop fills the log, most of what follows is of no interest: loads of bytes that
// hold values and that no other pipe works on, and stores that go on where the last one of their line ended. Such stretches are
// agreed with the observers; inside them an access is only counted.
#pragma once
#include "gn_twin/config.h"
#include "gn_twin/event.h"

namespace gn_twin {

// Bytes of the Unified Buffer, [begin, end).
struct QuietBytes {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
};

struct ScalarLog {
  static constexpr uint32_t kRoom = 64;
  static constexpr uint32_t kLines = 4;  // source lines of a loop that have stretches; a power of two

  // The stretches of the lines whose numbers end alike.
  struct Line {
    QuietBytes loads;
    uint64_t loaded = 0;  // accesses in it. One count a line: a loop with several would wait for a single one
    ScalarAccess store;   // the first one of a run
    const uint8_t* stored_to = nullptr;  // where the run ends so far
  };

  ScalarAccess all[kRoom];
  ScalarAccess* next = all;
  bool in_gm = false;    // some of them touch global memory
  bool open = false;     // some line has a stretch
  bool storing = false;  // of stores
  Line lines[kLines];

  // Whether the access lies in a stretch. `place.line` is a constant where the kernel is compiled.
  template <class T>
  bool Counts(const T* address, Access access, Loc place) {
    const uint8_t* at = reinterpret_cast<const uint8_t*>(address);
    Line& line = lines[place.line % kLines];
    if (access == Access::Read) {
      if (at < line.loads.begin || at >= line.loads.end) return false;
      ++line.loaded;
    } else {
      if (at != line.stored_to || line.store.line != place.line) return false;
      line.stored_to = at + sizeof(T);
    }
    return true;
  }
  bool Full() const { return next == all + kRoom; }
  bool Empty() const { return next == all && !open; }
};

}  // namespace gn_twin
