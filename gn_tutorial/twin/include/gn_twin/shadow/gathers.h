// The latest gathers of one core, stored as the offsets of the bytes that they read.
//
// A gather reads a few bytes at each of many places. Marking them all on a map takes several times as long as the
// gather itself, and is nearly always useless, because the next write to the table has waited for the gathers. So only
// the offsets are copied. The checker reads them only for an access that may not have waited.
#pragma once
#include "gn_twin/events/gather_ranges.h"
#include "gn_twin/shadow/access_site.h"

namespace gn_twin {

class Gathers {
 public:
  struct One {
    Stamp stamp = 0;
    OwnedGatherRanges pieces;
  };

  // Returns the gather that read the same bytes; null if there is none.
  One* Find(const GatherRanges& pieces) {
    for (One& one : all_) {
      if (one.stamp != 0 && one.pieces.Get() == pieces) return &one;
    }
    return nullptr;
  }
  // Returns the gather to replace first.
  One& Oldest() {
    One* oldest = all_;
    for (One& one : all_)
      if (one.stamp < oldest->stamp) oldest = &one;
    return *oldest;
  }
  // Stores a gather in `one`. Returns false if there is no memory; `one` is then empty.
  static bool Keep(One& one, Stamp stamp, const GatherRanges& pieces) {
    one.stamp = one.pieces.Keep(pieces) ? stamp : 0;
    return one.stamp != 0;
  }
  // Returns a stamp newer than `seen` on bytes of the range, or 0; sets `at` to the first such byte.
  Stamp Newer(Stamp seen, LocalRange range, uint32_t& at) const {
    for (const One& one : all_) {
      const GatherRanges& pieces = one.pieces.Get();
      if (one.stamp <= seen || pieces.range.begin >= range.end || range.begin >= pieces.range.end) continue;
      const uint32_t first = pieces.FirstIn(range);
      if (first == range.end) continue;
      at = first;
      return one.stamp;
    }
    return 0;
  }
  void Restart() {
    for (One& one : all_) one.stamp = 0;
  }

 private:
  // Four are enough: loops gather from one or two tables, and the other pipes wait for these gathers one or two
  // iterations later.
  One all_[4];
};

}  // namespace gn_twin
