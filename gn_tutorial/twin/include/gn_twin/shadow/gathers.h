// The latest gathers of one core: which bytes they read, as the offsets that they were given.
//
// A gather reads a few bytes here and there. Marking each of them on a map takes several times as long as the gather itself, and nearly
// always for nothing: what writes to a table next has waited for the gathers from it. So their offsets are copied, and looked at only
// when somebody asks who did not wait.
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

  // The gather that read the same bytes; null if there is none.
  One* Find(const GatherRanges& pieces) {
    for (One& one : all_) {
      if (one.stamp != 0 && one.pieces.Get() == pieces) return &one;
    }
    return nullptr;
  }
  // The one to give up first.
  One& Oldest() {
    One* oldest = all_;
    for (One& one : all_)
      if (one.stamp < oldest->stamp) oldest = &one;
    return *oldest;
  }
  // False without memory: then `one` is empty.
  static bool Keep(One& one, Stamp stamp, const GatherRanges& pieces) {
    one.stamp = one.pieces.Keep(pieces) ? stamp : 0;
    return one.stamp != 0;
  }
  // A stamp newer than `seen` on bytes of the range, or 0; `at` becomes the first such byte.
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
  // Loops gather from a table or two, and the other pipes wait for that an iteration or two later.
  One all_[4];
};

}  // namespace gn_twin
