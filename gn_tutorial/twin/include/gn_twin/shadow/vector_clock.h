// Happens-before within one core: one vector clock per pipe. A pipe's clock says which work of the other pipes is
// guaranteed to be finished before the pipe's next instruction.
//
// The work of a pipe is cut into windows. A window ends at each point that other pipes can wait for: a SetFlag, a
// barrier, a CrossCoreSetFlag, or a scalar access that the compiler makes wait for the pipe. A flag carries the clock
// of the pipe that set it. So a pipe that waits for the flag has also waited for everything that the other pipe had
// waited for before.
// Source: docs/zh/api, 同步控制/核内同步 (SetFlag/WaitFlag, PipeBarrier, 关键特性说明).
#pragma once
#include "gn_twin/base/config.h"
#include "gn_twin/events/hard_event.h"

namespace gn_twin {

inline constexpr uint32_t kPipes = 4;
inline constexpr uint32_t kEventCount = static_cast<uint32_t>(HardEvent::MAX);

inline uint32_t IndexOf(Pipe pipe) { return static_cast<uint32_t>(pipe); }

// Per pipe: the last window whose work is finished.
struct Clock {
  uint32_t at[kPipes] = {};

  void Join(const Clock& other) {
    for (uint32_t i = 0; i < kPipes; ++i) at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
  }
};

class PipeClocks {
 public:
  // Returns the window of an instruction of `pipe` that is issued now.
  uint32_t Now(uint32_t pipe) const { return now_[pipe]; }
  // Returns the last window of the pipe `of` that is finished before the next instruction of `pipe` starts.
  uint32_t Seen(uint32_t pipe, uint32_t of) const { return seen_[pipe].at[of]; }

  // Notes that an instruction of `pipe` is issued. The scalar unit issues in program order, so all work that it has
  // waited for is finished before the instruction starts. The scalar unit's own stores to memory may still be under
  // way.
  void Issue(uint32_t pipe) { seen_[pipe].Join(seen_[0]); }

  // Ends the current window of `pipe`. Returns the clock of all work that is finished when `pipe` finishes this window.
  Clock Release(uint32_t pipe) {
    const uint32_t now = now_[pipe]++;
    latest_ = latest_ < now + 1 ? now + 1 : latest_;
    // Filled field by field. If one field were changed after a copy, the next load of the whole clock would wait for
    // that store.
    Clock clock;
    for (uint32_t i = 0; i < kPipes; ++i) clock.at[i] = i == pipe ? now : seen_[pipe].at[i];
    return clock;
  }
  void Wait(uint32_t pipe, const Clock& clock) { seen_[pipe].Join(clock); }

  void SetFlag(HardEvent event, uint32_t id) {
    const uint32_t from = IndexOf(PipesOf(event).from);
    if (from >= kPipes) return;
    Issue(from);
    flags_[static_cast<uint32_t>(event)][id] = Release(from);
  }
  void WaitFlag(HardEvent event, uint32_t id) {
    const uint32_t to = IndexOf(PipesOf(event).to);
    if (to < kPipes) Wait(to, flags_[static_cast<uint32_t>(event)][id]);
  }

  GNT_NOINLINE void Barrier(Pipe pipe) {
    if (pipe != Pipe::All) {
      Issue(IndexOf(pipe));
      Wait(IndexOf(pipe), Release(IndexOf(pipe)));
      return;
    }
    Clock all;
    for (uint32_t i = 0; i < kPipes; ++i) all.at[i] = now_[i]++;
    ++latest_;
    for (Clock& seen : seen_) seen = all;
  }

  // Returns the latest window of any pipe.
  uint32_t Latest() const { return latest_; }
  void Restart() { *this = PipeClocks{}; }

 private:
  uint32_t now_[kPipes] = {1, 1, 1, 1};
  uint32_t latest_ = 1;
  Clock seen_[kPipes];
  Clock flags_[kEventCount][kEventIds];
};

}  // namespace gn_twin
