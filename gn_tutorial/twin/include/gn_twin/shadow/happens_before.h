// Happens-before between blocks that wait for one another through words of global memory: one vector clock per block.
//
// The work of a block is cut into intervals. A new interval begins after each word that the block sets for others
// (Release), and after each word that it has waited for (Acquire). SyncAll, which orders all blocks at once, is handled
// in shadow/block_accesses.h.
#pragma once
#include <stdlib.h>

#include "gn_twin/base/config.h"

namespace gn_twin {

class HappensBefore {
 public:
  explicit HappensBefore(uint32_t blocks) : blocks_(blocks) {}
  ~HappensBefore() {
    for (uint32_t i = 0; i < seen_count_; ++i) free(seen_[i]);
    free(seen_);
    free(intervals_);
    free(words_);
    free(now_);
  }
  HappensBefore(const HappensBefore&) = delete;
  HappensBefore& operator=(const HappensBefore&) = delete;

  // Returns the number of the block's current interval.
  uint32_t Now(uint32_t block) const { return now_ == nullptr ? block : now_[block]; }

  // Notes that the block has set the word: a block that waits for it sees everything that this block has done.
  GNT_COLD void Release(uint32_t block, const void* word) {
    if (!Begin()) return;
    const uint32_t before = now_[block];
    Word* found = Find(word);
    if (found == nullptr && (found = Grow(words_, word_count_, word_room_)) == nullptr) return;
    *found = {word, before};
    Enter({block, intervals_[before].segment + 1, intervals_[before].seen});
  }

  // Notes that the block has waited for the word: the block sees everything that the word's last setter had done and
  // seen.
  GNT_COLD void Acquire(uint32_t block, const void* word) {
    const Word* found = Find(word);
    if (found == nullptr || !Begin()) return;
    const Interval theirs = intervals_[found->interval];
    const Interval before = intervals_[now_[block]];
    uint32_t** const kept = Grow(seen_, seen_count_, seen_room_);
    if (kept == nullptr) return;
    *kept = static_cast<uint32_t*>(calloc(blocks_, sizeof(uint32_t)));
    if (*kept == nullptr || uint64_t{seen_count_} * blocks_ * sizeof(uint32_t) > kMostBytes) return Stop();
    for (uint32_t i = 0; i < blocks_; ++i) (*kept)[i] = Larger(Seen(before, i), Seen(theirs, i));
    (*kept)[theirs.block] = Larger((*kept)[theirs.block], theirs.segment);
    Enter({block, before.segment, *kept});
  }

  // Whether two intervals of different blocks cannot run at the same time. After Stop() this is always true.
  bool InOrder(uint32_t one, uint32_t other) const {
    if (now_ == nullptr) return false;
    const Interval& a = intervals_[one];
    const Interval& b = intervals_[other];
    return stopped_ || Seen(b, a.block) >= a.segment || Seen(a, b.block) >= b.segment;
  }

 private:
  static constexpr uint64_t kMostBytes = uint64_t{32} << 20;

  struct Interval {
    uint32_t block;
    uint32_t segment;      // 1 + the block's Releases before the interval
    const uint32_t* seen;  // per block: the last segment that happened before; null for none
  };
  struct Word {
    const void* at;
    uint32_t interval;
  };

  static uint32_t Larger(uint32_t a, uint32_t b) { return a < b ? b : a; }
  static uint32_t Seen(const Interval& interval, uint32_t block) {
    return interval.seen == nullptr ? 0 : interval.seen[block];
  }

  // Puts every block into the interval of its own number, if there are no intervals yet. Returns false if there is no
  // memory, and after Stop().
  bool Begin() {
    if (now_ != nullptr || stopped_) return !stopped_;
    now_ = static_cast<uint32_t*>(malloc(sizeof(uint32_t) * blocks_));
    for (uint32_t i = 0; now_ != nullptr && i < blocks_; ++i) {
      Interval* const own = Grow(intervals_, interval_count_, interval_room_);
      if (own == nullptr) return false;
      *own = {i, 1, nullptr};
      now_[i] = i;
    }
    return now_ != nullptr;
  }
  void Enter(const Interval& interval) {
    Interval* const next = Grow(intervals_, interval_count_, interval_room_);
    if (next == nullptr) return;
    *next = interval;
    now_[interval.block] = interval_count_ - 1;
  }
  // Returns the record of a word, or null. Searches from the end, because mostly the latest words are needed.
  Word* Find(const void* word) const {
    for (uint32_t i = word_count_; i-- > 0;) {
      if (words_[i].at == word) return &words_[i];
    }
    return nullptr;
  }

  template <class T>
  T* Grow(T*& list, uint32_t& count, uint32_t& room) {
    if (count == room) {
      const uint32_t more = room == 0 ? 64 : 2 * room;
      void* const larger = uint64_t{more} * sizeof(T) <= kMostBytes ? realloc(list, more * sizeof(T)) : nullptr;
      if (larger == nullptr) {
        Stop();
        return nullptr;
      }
      list = static_cast<T*>(larger);
      room = more;
    }
    return &list[count++];
  }
  // Stops recording because the record is too large or there is no memory. From then on all intervals count as ordered,
  // so no race between blocks is found.
  void Stop() { stopped_ = true; }

  uint32_t blocks_;
  bool stopped_ = false;
  uint32_t* now_ = nullptr;  // per block; null until the first Release
  Interval* intervals_ = nullptr;
  uint32_t interval_count_ = 0;
  uint32_t interval_room_ = 0;
  Word* words_ = nullptr;
  uint32_t word_count_ = 0;
  uint32_t word_room_ = 0;
  uint32_t** seen_ = nullptr;
  uint32_t seen_count_ = 0;
  uint32_t seen_room_ = 0;
};

}  // namespace gn_twin
