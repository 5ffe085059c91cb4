// The log of scalar accesses (GetValue, SetValue, operator(), plain pointers) of one core: they are too frequent for an event each.
//
// Observers get many accesses at a time. When a loop fills the log, most later accesses do not matter: loads of bytes
// that hold values and that no other pipe uses, and stores that continue where the last store of their line ended.
// Observers agree on such quiet ranges; accesses inside them are only counted.
#pragma once
#include "gn_twin/base/config.h"
#include "gn_twin/events/event.h"

namespace gn_twin {

// Bytes of the Unified Buffer from `begin`.
struct QuietBytes {
  const uint8_t* begin = nullptr;
  uint64_t bytes = 0;
};

struct ScalarLog {
  static constexpr uint32_t kRoom = 64;
  static constexpr uint32_t kFirst = 16;  // room until the first flush after an event: loops soon get quiet ranges
  static constexpr uint32_t kLines = 4;   // source lines of a loop that have quiet ranges; a power of two

  // What is quiet on one source line: a range of loads, a run of stores. Its index in `lines` is the line number modulo
  // kLines.
  struct Line {
    QuietBytes loads;
    uint64_t loaded = 0;  // loads counted in `loads`; one counter a line, so that lines do not wait for each other
    ScalarAccess store;   // the first store of a run
    const uint8_t* stored_to = nullptr;  // where the run ends so far
  };

  ScalarAccess all[kRoom];
  ScalarAccess* next = all;
  ScalarAccess* end = all + kFirst;
  bool in_gm = false;    // some of the accesses touch global memory
  bool stored = false;   // some of the accesses write the Unified Buffer through plain pointers
  bool open = false;     // some line has a quiet range
  bool storing = false;  // some line has a run of stores
  bool singly = false;   // observers get each access before the next one, because they look at the value that it reads
  Line lines[kLines];

  // Whether the access lies in a quiet range. If so, counts it or adds it to its line's run of stores. `place.line` is
  // a constant in the compiled kernel. An access outside a quiet range is marked as unlikely: g++ then keeps the
  // variables of a kernel's loop in registers and saves them only around the call that logs the access. Without the
  // mark, g++ keeps these variables in memory, which doubles the time of a sum.
  template <class T>
  [[gnu::always_inline]] bool Counts(const T* address, Access access, Loc place) {
    const uint8_t* at = reinterpret_cast<const uint8_t*>(address);
    Line& line = lines[place.line % kLines];
    if (access == Access::Read) {
      if (!GNT_NEARLY_ALWAYS(static_cast<uint64_t>(at - line.loads.begin) < line.loads.bytes)) return false;
      ++line.loaded;
    } else {
      if (!GNT_NEARLY_ALWAYS(at == line.stored_to) || !GNT_NEARLY_ALWAYS(line.store.line == place.line)) return false;
      line.stored_to = at + sizeof(T);
    }
    return true;
  }
  bool Full() const { return next == end; }
  void RoomFor(uint32_t accesses) { end = all + (singly ? 1 : accesses); }
  bool Empty() const { return next == all && !open; }
};

}  // namespace gn_twin
