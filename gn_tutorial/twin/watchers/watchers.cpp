// The watchers of a launch, in the order in which they are told.
#include "gn_twin/core/watchers.h"

#include "gn_twin/checkers/data_cache.h"
#include "gn_twin/checkers/global_memory.h"
#include "gn_twin/checkers/memory.h"
#include "gn_twin/checkers/overlap.h"
#include "gn_twin/checkers/queues.h"
#include "gn_twin/checkers/race.h"
#include "gn_twin/checkers/call_cache.h"
#include "gn_twin/trace/counters.h"
#include "gn_twin/trace/trace.h"

namespace gn_twin {

class AllWatchers final : public Watchers {
 public:
  explicit AllWatchers(GntJob& job)
      : tally_(job.tally),
        global_(job),
        cache_(job.blocks),
        race_(job),
        calls_({memory_, global_, cache_, job.options.races == 0 ? &race_ : nullptr, job.tally}),
        trace_(job) {
    observers_.Add(tally_);
    observers_.Add(overlap_);
    observers_.Add(memory_);
    observers_.Add(global_);
    observers_.Add(queues_);
    observers_.Add(cache_);
    if (job.options.races == 0) observers_.Add(race_);
    // A trace has every call.
    trace_.Asked() ? observers_.Add(trace_) : observers_.Add(calls_);
  }

 private:
  Tally tally_;
  CheckOverlap overlap_;
  CheckMemory memory_;
  CheckGlobal global_;
  CheckQueues queues_;
  CheckCache cache_;
  CheckRace race_;
  KeepCalls calls_;
  Trace trace_;
};

Watchers* NewWatchers(GntJob& job) { return new AllWatchers(job); }

}  // namespace gn_twin
