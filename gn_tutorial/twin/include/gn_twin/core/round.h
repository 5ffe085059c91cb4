// A round: blocks of a bare launch run on several threads, each until it waits for others or ends, with the same result
// as on one thread.
//
// If blocks do not wait for one another, their order does not matter, because no block reads the data of another.
// Actions whose order can be observed happen in turn: at a barrier, a flag, an atomic store, a read that refreshes the
// block's view of global memory, printed text, or a mistake, a block leaves its thread until all earlier blocks have
// ended or wait. When it continues, memory is as if the blocks had run one after the other. The first block of the
// order never leaves its thread for that. So a block that waits for an earlier one in a way that the twin does not see
// still gets its value.
#pragma once
#include <new>

#include "gn_twin/base/abi.h"
#include "gn_twin/core/poison.h"
#include "gn_twin/core/team.h"

namespace gn_twin {

// Returns the number of threads for a launch: 1 if more would not make it faster, or if the job asks for one. Starting
// a thread takes some 50 us, in which a bare kernel processes half a MiB.
GNT_COLD inline uint32_t ThreadsFor(const GntJob& job) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 1;  // the sanitizers' records of stacks do not follow a block to another thread
#endif
  constexpr uint64_t kWorthIt = uint64_t{4} << 20;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < job.arg_count; ++i)
    if (job.args[i].kind == GNT_TENSOR) bytes += job.args[i].bytes;
  if (bytes < kWorthIt || job.blocks < 2 || job.options.threads == 1) return 1;
  uint32_t threads = job.options.threads != 0 ? job.options.threads : UsableProcessors();
  if (threads > job.blocks) threads = job.blocks;
  return threads < Team::kMost ? threads : Team::kMost;
}

class Round {
 public:
  // Why a block left its thread. Suspended: it has ended, or waits for other blocks. ForItsTurn: it waits for its turn.
  enum class Left : uint8_t { Suspended, ForItsTurn };
  // Runs a block, from its start or from where it was, until it leaves its thread.
  using RunOne = Left (*)(void* context, uint32_t block, bool is_caller);

  // `order`: `count` blocks, in the order of their turns. `poison`: memory to fill before the first block starts.
  Round(uint32_t blocks, const uint32_t* order, uint32_t count, Poisoning& poison, RunOne run, void* context)
      : order_(order), count_(count), poison_(poison), run_(run), context_(context) {
    members_ = new Member[blocks];
  }
  ~Round() { delete[] members_; }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  void Run(uint32_t threads) {
    caller_ = pthread_self();
    Team::Run(threads, [](void* round) { static_cast<Round*>(round)->Work(); }, this);
  }

  // Whether it is this block's turn. A block keeps the turn until it is suspended. A block without the turn must leave
  // its thread.
  bool HasTurn(uint32_t block) {
    Member& mine = members_[block];
    if (mine.in_turn) return true;
    shared_.Lock();
    mine.in_turn = !aborted_ && order_[turn_] == block;
    shared_.Unlock();
    return mine.in_turn;
  }
  // Stops the round: no further block starts or gets its turn. Called by the block whose turn it is.
  void Abort() {
    shared_.Lock();
    aborted_ = true;
    shared_.Unlock();
  }

 private:
  struct Member {
    bool in_turn = false;  // only the block itself reads this
    bool left = false;     // it waits for its turn
    bool settled = false;  // it has ended, or waits for others
  };

  GNT_COLD void Work() {
    poison_.Help();
    const bool is_caller = pthread_equal(pthread_self(), caller_) != 0;
    shared_.Lock();
    for (;;) {
      uint32_t block;
      if (!aborted_ && turn_ < count_ && members_[order_[turn_]].left) {
        block = order_[turn_];
        members_[block].left = false;
        members_[block].in_turn = true;
      } else if (!aborted_ && next_ < count_) {
        block = order_[next_++];
      } else if (busy_ != 0) {
        shared_.Wait();
        continue;
      } else {
        break;
      }
      ++busy_;
      shared_.Unlock();
      const Left left = run_(context_, block, is_caller);
      shared_.Lock();
      --busy_;
      (left == Left::ForItsTurn ? members_[block].left : members_[block].settled) = true;
      while (turn_ < count_ && members_[order_[turn_]].settled) ++turn_;
      shared_.Changed();
    }
    shared_.Unlock();
  }

  const uint32_t* order_;
  uint32_t count_;
  Poisoning& poison_;
  RunOne run_;
  void* context_;
  Member* members_;
  Shared shared_;
  pthread_t caller_;
  uint32_t turn_ = 0;  // place in order_ of the first block that has not settled
  uint32_t next_ = 0;  // place in order_ of the next block to start
  uint32_t busy_ = 0;  // threads that run a block
  bool aborted_ = false;
};

}  // namespace gn_twin
