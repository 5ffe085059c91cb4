// The observers of a launch, in the order in which they get its events.
#include "gn_twin/core/watchers.h"

#include "gn_twin/checkers/data_cache.h"
#include "gn_twin/checkers/global_memory.h"
#include "gn_twin/checkers/memory.h"
#include "gn_twin/checkers/overlap.h"
#include "gn_twin/checkers/padding.h"
#include "gn_twin/checkers/queues.h"
#include "gn_twin/checkers/race.h"
#include "gn_twin/checkers/call_cache.h"
#include "gn_twin/core/counters.h"
#include "gn_twin/tensor/nan_origins.h"
#include "gn_twin/tensor/pointer_hooks.h"
#include "gn_twin/trace/trace.h"

namespace gn_twin {

class AllWatchers final : public Watchers {
 public:
  explicit AllWatchers(GntJob& job)
      : counters_(job.tally),
        memory_(global_),
        global_(job),
        cache_(job.blocks),
        race_(job, memory_, global_),
        calls_({memory_, padding_, global_, cache_, job.options.races == 0 ? &race_ : nullptr, counters_}),
        trace_(job) {
    observers_.Add(counters_);
    observers_.Add(overlap_);
    observers_.Add(memory_);
    observers_.Add(padding_);
    observers_.Add(global_);
    observers_.Add(queues_);
    observers_.Add(cache_);
    if (job.options.races == 0) observers_.Add(race_);
    // A trace records every call, so a traced launch has no call cache.
    trace_.Asked() ? observers_.Add(trace_) : observers_.Add(calls_);
  }

 private:
  Counters counters_;
  OverlapChecker overlap_;
  MemoryChecker memory_;
  PaddingChecker padding_;
  GlobalMemoryChecker global_;
  QueueChecker queues_;
  DataCacheChecker cache_;
  RaceChecker race_;
  CallCache calls_;
  Trace trace_;
};

Watchers* NewWatchers(GntJob& job) { return new AllWatchers(job); }

}  // namespace gn_twin
