// Runs the blocks of a launch in one order, and suspends those that wait for others. The result is deterministic. All
// blocks are alive at once only if the kernel needs it.
//
// A block runs on a fiber. When it waits (in SyncAll, or for a value from another block), the next block starts on
// another fiber. When all have started, the next one that can continue is resumed. Kernels in which no block waits use
// one fiber. The order is ascending, or shuffled with a seed (GntOptions::block_order). The device guarantees no order,
// and seeds reveal a kernel whose result depends on the order.
//
// The chip runs as many blocks at once as it has cores (GntOptions::cores). A further block starts when one has ended,
// so a block that waits for one that has not started may wait for ever: RequireCores decides this for all waits.
//
// Blocks of an observed launch run one at a time. Those of a bare launch may run on several threads, with the result of
// one thread: see Round.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/core/fiber.h"
#include "gn_twin/core/round.h"

namespace gn_twin {

class Scheduler {
 public:
  // Runs one block on a core of its own; returns false if the block was stopped, threw an exception or had no memory.
  using RunOne = bool (*)(void* context, Scheduler& scheduler, uint32_t block);

  Scheduler(GntJob& job, Poisoning& poison, RunOne run_one, void* context)
      : job_(job),
        poison_(poison),
        run_one_(run_one),
        context_(context),
        cores_(job.options.cores != 0 ? job.options.cores : GNT_DEFAULT_CORES) {
    states_ = new State[job.blocks > 0 ? job.blocks : 1];
    Permute(job.options.block_order);
  }
  ~Scheduler() {
    delete[] place_;
    delete[] order_;
    delete[] states_;
  }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Runs every block to its end; returns false if a block stopped.
  bool Run() {
    if constexpr (!kObserved) threads_ = ThreadsFor(job_);
    if (threads_ > 1) {
      RunTogether(Phase::Unstarted);
    } else {
      poison_.Help();
    }
    for (running_ = Next(); running_ != kNobody; running_ = Next()) {
      if (threads_ > 1 && AllAreReleased()) {
        RunTogether(Phase::Waiting);
      } else {
        RunBlock(running_, true);
        done_ += states_[running_].phase == Phase::Done;
      }
    }
    return !Aborted();
  }

  // Waits until it is the block's turn (Round::HasTurn); returns false if the launch was stopped meanwhile.
  GNT_COLD bool TakeTurn(uint32_t block, Core* core = nullptr) {
    if (round_on_threads_ == nullptr || round_on_threads_->HasTurn(block)) return true;
    State& mine = states_[block];
    mine.phase = Phase::Waiting;
    mine.for_its_turn = true;
    mine.fiber->Leave(false);
    EnterCore(core);
    return !Aborted();
  }

  // Suspends this block until `cores` blocks (0: all blocks of the launch) have called SyncAll equally often. `op`: the
  // operation that waits. Throws Stopped if that is impossible, or if the launch was stopped.
  void SyncAll(Core& core, const char* op, Loc loc, uint32_t cores = 0) {
    RequireCores(core, op, loc);
    if (!core.InTurn()) StopBlock();
    expected_ = cores == 0 ? job_.blocks : cores;
    ++progress_;
    Suspend(core, loc, Waits::Barrier);
  }

  // Suspends this block until another block makes ready() true. `op`: as in SyncAll. Throws Stopped if no block can, or
  // if the launch was stopped.
  template <class Ready>
  void WaitUntil(Core& core, const char* op, Loc loc, Ready ready) {
    RequireCores(core, op, loc);
    if (!core.InTurn()) StopBlock();
    for (bool first = true; !ready(); first = false) {
      if (first) ++progress_;
      states_[core.block].tried = progress_;
      Suspend(core, loc, Waits::Value);
    }
  }

  // Runs the other blocks, because this block keeps reading the same words of global memory at `loc`. `moved`: this
  // block has done something else since its last turn. Throws Stopped if the launch was stopped, or if no block has
  // done anything but poll for so long that the wait cannot end.
  void Poll(Core& core, const char* op, Loc loc, bool moved) {
    State& mine = states_[core.block];
    if (moved) ++changes_;
    if (mine.polled != changes_) {
      mine.polled = changes_;
      mine.idle_turns = 0;
    } else if (++mine.idle_turns == kMostIdleTurns) {
      if (next_ < job_.blocks) return RefuseCores(core, op, loc);
      core.Stop("block-wait-deadlock", loc, {{"waiting", core.block}, {"blocks", job_.blocks}});
    }
    if (!IsPolling(loc) && polls_ < kMostPolls) polling_[polls_++] = loc;
    ++progress_;
    Suspend(core, loc, Waits::Turn);
  }
  bool AnyPoll() const { return polls_ != 0; }
  // Whether some block has polled in this line. Only the first kMostPolls lines are noted.
  GNT_COLD bool IsPolling(Loc loc) const {
    for (uint32_t i = 0; i < polls_; ++i)
      if (polling_[i].line == loc.line && polling_[i].file == loc.file) return true;
    return false;
  }

  // Runs the other blocks, for a block that repeatedly refreshes its view of global memory.
  void Yield(Core& core, Loc loc) {
    ++progress_;
    Suspend(core, loc, Waits::Turn);
  }

 private:
  // Refuses an operation that waits for other blocks if the launch has more blocks than the chip has cores, whichever
  // blocks it waits for (docs/hardware-choices.md). A polling loop may wait for a block that has started, so Poll refuses
  // it only if all started blocks poll.
  void RequireCores(Core& core, const char* op, Loc loc) {
    if (job_.blocks > cores_) [[unlikely]]
      RefuseCores(core, op, loc);
  }
  GNT_COLD void RefuseCores(Core& core, const char* op, Loc loc) {
    __atomic_store_n(&waits_in_vain_, true, __ATOMIC_RELAXED);
    core.Refuse("blocks-beyond-cores", loc, {{"op", op}, {"blocks", job_.blocks}, {"cores", cores_}});
  }
  // Whether a block can start: the launch has one that has not started, and the chip has a core for it.
  bool MayStart() const {
    if (round_ != 0 || next_ == job_.blocks) return false;
    return __atomic_load_n(&waits_in_vain_, __ATOMIC_RELAXED) || next_ - done_ < cores_;
  }

  enum class Phase : uint8_t { Unstarted, Running, Waiting, Done };
  enum class Waits : uint8_t { Barrier, Value, Turn };
  struct State {
    Phase phase = Phase::Unstarted;
    Waits waits = Waits::Barrier;
    bool released = false;      // the barrier that it waits at is complete
    bool for_its_turn = false;  // it left its thread in a round
    uint32_t number = 0;
    Scheduler* scheduler = nullptr;
    uint64_t tried = 0;   // progress_ when ready() was last false
    uint64_t polled = 0;  // changes_ at its last turn
    uint32_t idle_turns = 0;
    Loc waits_at;  // the call it is in
    Fiber* fiber = nullptr;
  };
  static constexpr uint32_t kNobody = ~uint32_t{0};
  static constexpr uint32_t kMostPolls = 16;            // lines of a kernel in which blocks poll
  static constexpr uint32_t kMostIdleTurns = 1u << 14;  // a million reads: more than a loop with limited tries makes

  // Sets the order of the blocks: ascending for seed 0, else a Fisher-Yates shuffle with the numbers of splitmix64.
  void Permute(uint64_t seed) {
    order_ = new uint32_t[job_.blocks > 0 ? job_.blocks : 1];
    place_ = new uint32_t[job_.blocks > 0 ? job_.blocks : 1];
    for (uint32_t i = 0; i < job_.blocks; ++i) order_[i] = i;
    uint64_t state = seed;
    for (uint32_t i = job_.blocks; seed != 0 && i > 1; --i) {
      uint64_t mixed = state += 0x9e3779b97f4a7c15ull;
      mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ull;
      mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
      const uint32_t other = static_cast<uint32_t>((mixed ^ mixed >> 31) % i);
      const uint32_t block = order_[i - 1];
      order_[i - 1] = order_[other];
      order_[other] = block;
    }
    for (uint32_t i = 0; i < job_.blocks; ++i) place_[order_[i]] = i;
  }

  // Gives a block a fiber. If there is no memory for it, stops the launch and returns false.
  bool Start(uint32_t block) {
    State& state = states_[block];
    state.fiber = ObjectPool<Fiber>::Take();
    if (state.fiber != nullptr) {
      state.number = block;
      state.scheduler = this;
      state.fiber->Start(FiberMain, &state);
      return true;
    }
    state.phase = Phase::Done;
    // Another block of a round may have stopped the launch already. Then only that block's report is written.
    if (!__atomic_exchange_n(&aborted_, true, __ATOMIC_ACQ_REL)) {
      const Field field{"blocks", job_.blocks};
      ReportWriter(job_).Write("block-no-stack", "error", Loc{"", 0}, block, &field, 1);
    }
    return false;
  }

  // Runs a block until it waits or ends. `tells`: whether to set job.here_stack, by which the launcher's signal handler
  // recognises an overflow of this block's stack.
  GNT_COLD void RunBlock(uint32_t block, bool tells) {
    State& state = states_[block];
    if (state.phase == Phase::Unstarted && !Start(block)) return;
    state.phase = Phase::Running;
    state.for_its_turn = false;
    if (tells) job_.here_stack = state.fiber->Lowest();
    state.fiber->Enter();
    if (tells) job_.here_stack = 0;
    if (state.phase == Phase::Done) ObjectPool<Fiber>::Give(state.fiber);
  }

  // Runs all blocks in this phase on several threads, each until it waits for others or ends. Blocks in phase Waiting
  // are at a complete barrier.
  GNT_COLD void RunTogether(Phase phase) {
    uint32_t* const together = new uint32_t[job_.blocks];
    uint32_t count = 0;
    for (uint32_t i = 0; i < job_.blocks; ++i)
      if (states_[order_[i]].phase == phase) together[count++] = order_[i];
    Round round(
        job_.blocks, together, count, poison_,
        [](void* self, uint32_t block, bool is_caller) {
          Scheduler& scheduler = *static_cast<Scheduler*>(self);
          scheduler.RunBlock(block, is_caller);
          if (scheduler.Aborted()) scheduler.round_on_threads_->Abort();
          return scheduler.states_[block].for_its_turn ? Round::Left::ForItsTurn : Round::Left::Suspended;
        },
        this);
    round_on_threads_ = &round;
    round.Run(threads_);
    round_on_threads_ = nullptr;
    next_ = job_.blocks;
    running_ = together[count - 1];
    ++progress_;
    ++changes_;
    delete[] together;
  }
  // Whether all blocks that have not ended can continue, after a barrier.
  GNT_COLD bool AllAreReleased() const {
    for (uint32_t block = 0; block < job_.blocks; ++block)
      if (states_[block].phase == Phase::Waiting && !states_[block].released) return false;
    return !Aborted();
  }
  bool Aborted() const { return __atomic_load_n(&aborted_, __ATOMIC_ACQUIRE); }
  void Abort() { __atomic_store_n(&aborted_, true, __ATOMIC_RELEASE); }

  static void FiberMain(void* state) {
    State& mine = *static_cast<State*>(state);
    mine.scheduler->RunOnFiber(mine);
  }
  GNT_COLD void RunOnFiber(State& mine) {
    mine.fiber->Arrived();
    if (!run_one_(context_, *this, mine.number)) Abort();
    mine.phase = Phase::Done;
    if (round_on_threads_ == nullptr) {
      ++progress_;
      ++changes_;
    }
    mine.fiber->Leave(true);
  }

  GNT_COLD void Suspend(Core& core, Loc loc, Waits waits) {
    State& mine = states_[core.block];
    mine.phase = Phase::Waiting;
    mine.waits = waits;
    mine.released = false;
    mine.waits_at = loc;
    mine.fiber->Leave(false);
    EnterCore(&core);
    if (Aborted()) StopBlock();
    if constexpr (kObserved) job_.here_block = core.block;
    core.At(loc);
  }

  bool MayGoOn(const State& state) const {
    if (state.phase != Phase::Waiting) return false;
    return state.waits == Waits::Turn || (state.waits == Waits::Value ? state.tried != progress_ : state.released);
  }

  // Returns the block to run next, or kNobody if all have ended. Until all blocks have started or a barrier is
  // complete, this is the next block to start; after that, the next one that can continue. If none can and expected_
  // blocks wait at the barrier, releases these and returns the first one; otherwise reports a deadlock. After a
  // deadlock or another stop, returns FirstWaiting().
  GNT_COLD uint32_t Next() {
    if (Aborted()) return FirstWaiting();
    if (MayStart()) return order_[next_++];
    for (uint32_t step = 1; step <= job_.blocks; ++step) {
      const uint32_t other = order_[(place_[running_] + step) % job_.blocks];
      if (MayGoOn(states_[other])) return other;
    }
    uint32_t at_barrier = 0;
    uint32_t first_at_barrier = kNobody;
    uint32_t first_for_value = kNobody;
    uint32_t first_done = kNobody;
    for (uint32_t i = 0; i < job_.blocks; ++i) {
      const uint32_t other = order_[i];
      if (states_[other].phase != Phase::Waiting) {
        if (first_done == kNobody) first_done = other;
      } else if (states_[other].waits == Waits::Barrier) {
        ++at_barrier;
        if (first_at_barrier == kNobody) first_at_barrier = other;
      } else if (first_for_value == kNobody) {
        first_for_value = other;
      }
    }
    if (at_barrier == 0 && first_for_value == kNobody) return kNobody;
    if (at_barrier != expected_ || at_barrier == 0) {
      Deadlock(at_barrier, first_at_barrier, first_for_value, first_done);
      return FirstWaiting();
    }
    ++round_;
    ++changes_;
    for (uint32_t other = 0; other < job_.blocks; ++other) {
      states_[other].released = states_[other].phase == Phase::Waiting && states_[other].waits == Waits::Barrier;
    }
    return first_at_barrier;
  }

  GNT_COLD void Deadlock(uint32_t at_barrier, uint32_t first_at_barrier, uint32_t first_for_value,
                         uint32_t first_done) {
    Abort();
    if (first_for_value != kNobody) {
      Field fields[] = {{"waiting", first_for_value}, {"blocks", job_.blocks}};
      ReportWriter(job_).Write("block-wait-deadlock", "error", states_[first_for_value].waits_at, first_for_value,
                               fields, 2);
    } else {
      Field fields[] = {{"waiting", at_barrier}, {"blocks", expected_}, {"done_block", first_done}};
      ReportWriter(job_).Write("sync-all-deadlock", "error", states_[first_at_barrier].waits_at, first_at_barrier,
                               fields, 3);
    }
  }

  // Returns a waiting block, or kNobody. After a stop, Next() runs the waiting blocks one after the other, each on its
  // own fiber, because the destructors of its variables have to run.
  uint32_t FirstWaiting() const {
    for (uint32_t block = 0; block < job_.blocks; ++block) {
      if (states_[block].phase == Phase::Waiting) return block;
    }
    return kNobody;
  }

  GntJob& job_;
  Poisoning& poison_;
  RunOne run_one_;
  void* context_;
  const uint32_t cores_;
  State* states_ = nullptr;
  uint32_t* order_ = nullptr;  // blocks in the order of their turns
  uint32_t* place_ = nullptr;  // the place of each block in order_
  uint32_t next_ = 0;          // place in order_ of the next block to start
  uint32_t done_ = 0;          // how many blocks have ended, if no thread but this one runs blocks
  uint32_t running_ = kNobody;
  uint32_t expected_ = 0;  // blocks that take part in the current SyncAll
  uint32_t round_ = 0;     // how many SyncAll are complete
  uint64_t progress_ = 0;  // changes whenever a block may have written a value that another waits for
  uint64_t changes_ = 1;   // like progress_, but the turns of polling blocks do not count
  Loc polling_[kMostPolls];
  uint32_t polls_ = 0;
  bool waits_in_vain_ = false;  // a device would hang; the launch goes on, as if the chip had a core for each block
  uint32_t threads_ = 1;
  Round* round_on_threads_ = nullptr;
  bool aborted_ = false;  // read and set by all threads of a round
};

inline bool BlockInTurn(Core& core) { return core.scheduler->TakeTurn(core.block, &core); }

}  // namespace gn_twin
