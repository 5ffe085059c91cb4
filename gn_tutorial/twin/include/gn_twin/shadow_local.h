// The last accesses to each 32 bytes of one Unified Buffer, pipe by pipe.
//
// Whole granules are the rule and cost one store and one comparison each, many at a time. Where an access begins or ends inside a
// granule, a mask says which of its bytes it touched, so that neighbours in one granule give no false alarm.
#pragma once
#include <stdlib.h>

#include "gn_twin/shadow_clock.h"
#include "gn_twin/shadow_site.h"

namespace gn_twin {

// Bytes of the Unified Buffer, counted from its start.
struct LocalRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

class LocalShadow {
 public:
  // The accesses of one pipe that only write, or only read.
  struct Lane {
    Stamp last;  // the newest of all stamps
    Stamp stamps[kUbBytes / kBlockBytes];
    uint32_t masks[kUbBytes / kBlockBytes];  // bytes touched, where the stamp has kPart
  };

  // Zero pages of the operating system: lanes that no access uses cost nothing.
  LocalShadow() : lanes_(static_cast<Lane*>(calloc(2 * kPipes, sizeof(Lane)))) {}
  ~LocalShadow() { free(lanes_); }
  LocalShadow(const LocalShadow&) = delete;
  LocalShadow& operator=(const LocalShadow&) = delete;

  bool Ready() const { return lanes_ != nullptr; }
  Lane& Of(uint32_t pipe, bool write) { return lanes_[2 * pipe + (write ? 1 : 0)]; }

  // A stamp newer than `seen` on bytes of the range, or 0; `at` becomes the first such byte.
  static Stamp Newer(const Lane& lane, Stamp seen, LocalRange range, uint32_t& at) {
    return Near(lane, seen, range) ? Confirm(lane, seen, range, at) : 0;
  }
  // Whether any granule of the range has a newer stamp: quick, and true too often.
  static bool Near(const Lane& lane, Stamp seen, LocalRange range) {
    if (lane.last <= seen || range.begin >= range.end) return false;
    const uint32_t end = (range.end + kBlockBytes - 1) / kBlockBytes;
    Stamp newest = 0;
    for (uint32_t i = range.begin / kBlockBytes; i < end; ++i)
      newest = newest < lane.stamps[i] ? lane.stamps[i] : newest;
    return newest > seen;
  }

  static void Mark(Lane& lane, Stamp stamp, LocalRange range) {
    if (range.begin >= range.end) return;
    lane.last = stamp;
    uint32_t first = range.begin / kBlockBytes;
    uint32_t end = range.end / kBlockBytes;
    if (range.begin % kBlockBytes != 0 || end <= first) MarkPart(lane, stamp, first++, range);
    if (range.end % kBlockBytes != 0 && end >= first) MarkPart(lane, stamp, end, range);
    for (uint32_t i = first; i < end; ++i) lane.stamps[i] = stamp;
  }

  void Restart() {
    for (uint32_t i = 0; i < 2 * kPipes; ++i) {
      lanes_[i].last = 0;
      for (Stamp& stamp : lanes_[i].stamps) stamp = 0;
    }
  }

 private:
  // Which of the granule's bytes lie in the range.
  static uint32_t MaskOf(uint32_t granule, LocalRange range) {
    const uint32_t begin = granule * kBlockBytes;
    const uint32_t from = range.begin > begin ? range.begin - begin : 0;
    const uint32_t to = range.end < begin + kBlockBytes ? range.end - begin : kBlockBytes;
    return static_cast<uint32_t>(((uint64_t{1} << to) - 1) & ~((uint64_t{1} << from) - 1));
  }

  static void MarkPart(Lane& lane, Stamp stamp, uint32_t granule, LocalRange range) {
    const uint32_t mask = MaskOf(granule, range);
    Stamp& old = lane.stamps[granule];
    if (old >> kWindowShift == stamp >> kWindowShift) {  // the same window: nobody can have seen one without the other
      if ((old & kPart) == 0) return;
      lane.masks[granule] |= mask;
    } else {
      lane.masks[granule] = mask;
    }
    old = stamp | kPart;
  }

  GNT_COLD static Stamp Confirm(const Lane& lane, Stamp seen, LocalRange range, uint32_t& at) {
    for (uint32_t i = range.begin / kBlockBytes; i * kBlockBytes < range.end; ++i) {
      if (lane.stamps[i] <= seen) continue;
      const uint32_t touched = (lane.stamps[i] & kPart) != 0 ? lane.masks[i] : ~uint32_t{0};
      const uint32_t both = touched & MaskOf(i, range);
      if (both == 0) continue;
      at = i * kBlockBytes + static_cast<uint32_t>(__builtin_ctz(both));
      return lane.stamps[i];
    }
    return 0;
  }

  Lane* lanes_;
};

}  // namespace gn_twin
