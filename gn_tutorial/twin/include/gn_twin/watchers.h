// Everything that watches a launch, and the order in which it is told. Bare libraries watch nothing.
#pragma once
#include "gn_twin/check_cache.h"
#include "gn_twin/tally.h"

namespace gn_twin {

class Watchers {
 public:
  explicit Watchers(GntJob& job) : tally_(job.tally), cache_(kObserved ? job.blocks : 0) {
    observers_.Add(tally_);
    observers_.Add(cache_);
  }
  const Observers& All() const { return observers_; }
  Findings& Found() { return findings_; }

 private:
  Observers observers_;
  Findings findings_;
  Tally tally_;
  CacheChecker cache_;
};

}  // namespace gn_twin
