// Everything that watches a launch, and the order in which it is told. A bare library has none of it.
#pragma once
#include "gn_twin/check_cache.h"
#include "gn_twin/check_global.h"
#include "gn_twin/check_memory.h"
#include "gn_twin/check_overlap.h"
#include "gn_twin/check_queues.h"
#include "gn_twin/check_race.h"
#include "gn_twin/tally.h"
#include "gn_twin/trace.h"

namespace gn_twin {

// What all of them share.
class WatchersBase {
 public:
  const Observers& All() const { return observers_; }
  Findings& Found() { return findings_; }

 protected:
  Observers observers_;
  Findings findings_;
};

template <bool kWatched>
class Watchers : public WatchersBase {
 public:
  explicit Watchers(GntJob& job) : tally_(job.tally), global_(job), cache_(job.blocks), race_(job), trace_(job) {
    observers_.Add(tally_);
    observers_.Add(overlap_);
    observers_.Add(memory_);
    observers_.Add(global_);
    observers_.Add(queues_);
    observers_.Add(cache_);
    observers_.Add(race_);
    if (trace_.Asked()) observers_.Add(trace_);
  }

 private:
  Tally tally_;
  CheckOverlap overlap_;
  CheckMemory memory_;
  CheckGlobal global_;
  CheckQueues queues_;
  CheckCache cache_;
  CheckRace race_;
  Trace trace_;
};

template <>
class Watchers<false> : public WatchersBase {
 public:
  explicit Watchers(GntJob&) {}
};

}  // namespace gn_twin
