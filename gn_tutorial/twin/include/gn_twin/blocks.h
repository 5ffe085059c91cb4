// Runs the blocks of a launch one at a time, in order, and lets SyncAll suspend them: deterministic, and all blocks alive at once only
// when the kernel needs it.
//
// A block runs on the thread that starts it. When it waits in SyncAll, its thread hands the turn on: to a new thread that
// starts the next block, or, from the second round on, to the thread of the next waiting block. Kernels without SyncAll never leave
// the calling thread.
#pragma once
#include <pthread.h>

#include "gn_twin/core.h"

namespace gn_twin {

class Blocks {
 public:
  // Runs one block on a core of its own; returns false if it stopped with a diagnostic.
  using RunOne = bool (*)(void* context, Blocks& blocks, uint32_t block);

  Blocks(GntJob& job, RunOne run_one, void* context) : job_(job), run_one_(run_one), context_(context) {
    states_ = new State[job.blocks > 0 ? job.blocks : 1];
    threads_ = new pthread_t[job.blocks > 0 ? job.blocks : 1];
    pthread_mutex_init(&mutex_, nullptr);
    for (uint32_t i = 0; i < job.blocks; ++i) pthread_cond_init(&states_[i].woken, nullptr);
  }
  ~Blocks() {
    for (uint32_t i = 0; i < job_.blocks; ++i) pthread_cond_destroy(&states_[i].woken);
    pthread_mutex_destroy(&mutex_);
    delete[] threads_;
    delete[] states_;
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // Every block to its end; false if one stopped.
  bool Run() {
    StartBlocks();
    // Blocks start in the first round only, and this thread leaves StartBlocks after it: the number of threads is final.
    for (uint32_t i = 0; i < thread_count_; ++i) pthread_join(threads_[i], nullptr);
    return !aborted_;
  }

  // Suspends this block until `cores` blocks (0: all of the launch) have called it as often. Throws Stopped if that can never happen.
  void SyncAll(Core& core, Loc loc, uint32_t cores = 0) {
    pthread_mutex_lock(&mutex_);
    expected_ = cores == 0 ? job_.blocks : cores;
    State& mine = states_[core.block];
    mine.phase = Phase::Waiting;
    mine.waits_at = loc;
    PassTurn(core, loc);
    while (turn_ != core.block) pthread_cond_wait(&mine.woken, &mutex_);
    const bool aborted = aborted_;
    if (!aborted) {
      mine.phase = Phase::Running;
      job_.here_block = core.block;
      core.At(loc);
    }
    pthread_mutex_unlock(&mutex_);
    if (aborted) throw Stopped{};
  }

 private:
  enum class Phase : uint8_t { Unstarted, Running, Waiting, Done };
  struct State {
    Phase phase = Phase::Unstarted;
    Loc waits_at;          // the SyncAll it is in
    pthread_cond_t woken;  // one each: a broadcast would wake every thread for each turn
  };
  static constexpr uint32_t kNobody = ~uint32_t{0};

  // Starts blocks on this thread until one of them hands the rest to another thread.
  void StartBlocks() {
    for (;;) {
      pthread_mutex_lock(&mutex_);
      if (aborted_ || next_ >= job_.blocks) {
        pthread_mutex_unlock(&mutex_);
        return;
      }
      const uint32_t block = next_++;
      states_[block].phase = Phase::Running;
      turn_ = block;
      pthread_mutex_unlock(&mutex_);

      const bool good = run_one_(context_, *this, block);

      pthread_mutex_lock(&mutex_);
      states_[block].phase = Phase::Done;
      if (!good || aborted_) {
        Abort();
      } else if (round_ == 0 && next_ < job_.blocks) {  // this thread starts the next one
        pthread_mutex_unlock(&mutex_);
        continue;
      } else {
        PassTurnAfter(block);
      }
      pthread_mutex_unlock(&mutex_);
      return;
    }
  }

  static void* ThreadMain(void* self) {
    static_cast<Blocks*>(self)->StartBlocks();
    return nullptr;
  }

  // From a block that waits. Called with the mutex held, as everything below.
  void PassTurn(Core& core, Loc loc) {
    if (round_ == 0 && next_ < job_.blocks) {  // the rest of the blocks on a new thread
      if (pthread_create(&threads_[thread_count_], nullptr, ThreadMain, this) == 0) {
        ++thread_count_;
        turn_ = kNobody;
      } else {
        const Field field{"blocks", job_.blocks};
        ReportWriter(job_).Write("sync-all-no-thread", "error", loc, core.block, &field, 1);
        Abort();
      }
      return;
    }
    PassTurnAfter(core.block);
  }

  // To the next block of this round; at the end of a round to the first one, if all of them wait.
  void PassTurnAfter(uint32_t block) {
    for (uint32_t other = block + 1; other < job_.blocks; ++other) {
      if (states_[other].phase == Phase::Waiting) return Give(other);
    }
    uint32_t waiting = 0;
    uint32_t first_waiting = kNobody;
    uint32_t first_done = kNobody;
    for (uint32_t other = 0; other < job_.blocks; ++other) {
      if (states_[other].phase == Phase::Waiting) {
        ++waiting;
        if (first_waiting == kNobody) first_waiting = other;
      } else if (first_done == kNobody) {
        first_done = other;
      }
    }
    if (waiting == 0) return;
    if (waiting != expected_) {
      Field fields[] = {{"waiting", waiting}, {"blocks", expected_}, {"done_block", first_done}};
      ReportWriter(job_).Write("sync-all-deadlock", "error", states_[first_waiting].waits_at, first_waiting, fields, 3);
      return Abort();
    }
    ++round_;
    Give(first_waiting);
  }

  void Give(uint32_t block) {
    turn_ = block;
    pthread_cond_signal(&states_[block].woken);
  }
  // The waiting blocks end one after the other, each in its turn: they share the launch's state.
  void Abort() {
    aborted_ = true;
    for (uint32_t block = 0; block < job_.blocks; ++block) {
      if (states_[block].phase == Phase::Waiting) return Give(block);
    }
  }

  GntJob& job_;
  RunOne run_one_;
  void* context_;
  pthread_mutex_t mutex_;
  State* states_ = nullptr;
  pthread_t* threads_ = nullptr;
  uint32_t thread_count_ = 0;
  uint32_t next_ = 0;  // block to start next
  uint32_t turn_ = kNobody;
  uint32_t expected_ = 0;  // blocks that meet in the current SyncAll
  uint32_t round_ = 0;     // how many times all blocks have met in SyncAll
  bool aborted_ = false;
};

}  // namespace gn_twin
