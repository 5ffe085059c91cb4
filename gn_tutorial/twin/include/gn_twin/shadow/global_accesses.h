// The latest accesses of one core to global memory, by pipe. A later access of another pipe may conflict with them.
//
// An access matters only until the other pipe has waited for it, and such accesses are few. So each lane keeps its
// newest kEntries.
#pragma once
#include "gn_twin/shadow/lane_stamps.h"
#include "gn_twin/shadow/row_set.h"

namespace gn_twin {

class GlobalAccesses {
 public:
  struct Entry {
    RowSet rows;
    Stamp stamp = 0;
    bool atomic = false;
  };

  // Returns the newest stamp of each lane.
  const LaneStamps& Last() const { return last_; }

  // Returns the lane's newest access with a stamp after `seen` that touches `rows`, or null; sets `at` to the first
  // byte that both touch. If `atomic`, atomic stores do not count, because two of them do not conflict.
  GNT_NOINLINE const Entry* Newer(uint32_t index, Stamp seen, bool atomic, const RowSet& rows, uintptr_t& at) const {
    if (last_.of[index] <= seen) return nullptr;
    const Lane& lane = lanes_[index];
    const uint64_t oldest = lane.made > kEntries ? lane.made - kEntries : 0;
    for (uint64_t i = lane.made; i-- > oldest;) {
      const Entry& entry = lane.entries[i % kEntries];
      if (entry.stamp <= seen)
        return nullptr;  // no later window has older entries: `seen` is the last stamp of its window
      if (entry.atomic && atomic) continue;
      at = entry.rows.Common(rows);
      if (at != 0) return &entry;
    }
    return nullptr;
  }

  GNT_NOINLINE void Add(uint32_t index, Stamp stamp, bool atomic, const RowSet& rows) {
    Lane& lane = lanes_[index];
    last_.of[index] = stamp;
    Entry& newest = lane.entries[(lane.made + kEntries - 1) % kEntries];
    if (lane.made > 0 && newest.stamp == stamp && newest.atomic == atomic && newest.rows.Absorb(rows)) return;
    Entry& next = lane.entries[lane.made++ % kEntries];
    next.rows = rows;  // field by field: g++ would build the struct elsewhere and wait for it before copying
    next.stamp = stamp;
    next.atomic = atomic;
  }

  GNT_COLD void Restart() {
    last_ = {};
    for (Lane& lane : lanes_) lane.made = 0;
  }

 private:
  static constexpr uint32_t kEntries = 64;
  struct Lane {
    uint64_t made = 0;
    Entry entries[kEntries];
  };
  LaneStamps last_;
  Lane lanes_[kAccessLanes];
};

}  // namespace gn_twin
