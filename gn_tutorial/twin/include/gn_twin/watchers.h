// Everything that watches a launch, and the order in which it is told. Bare libraries watch nothing.
#pragma once
#include "gn_twin/check_cache.h"
#include "gn_twin/tally.h"
#include "gn_twin/trace.h"

namespace gn_twin {

class Watchers {
 public:
  explicit Watchers(GntJob& job) : tally_(job.tally), cache_(kObserved ? job.blocks : 0), trace_(job) {
    observers_.Add(tally_);
    observers_.Add(cache_);
    if (trace_.Asked()) observers_.Add(trace_);
  }
  const Observers& All() const { return observers_; }
  Findings& Found() { return findings_; }

 private:
  Observers observers_;
  Findings findings_;
  Tally tally_;
  CacheChecker cache_;
  Trace trace_;
};

}  // namespace gn_twin
