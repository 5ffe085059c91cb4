// The accesses of all blocks to global memory between two SyncAll, and the races between blocks.
//
// Each entry holds rows at a regular pitch. Accesses are merged as they happen, so a loop over an array is one entry,
// whatever its length. At each SyncAll, one sweep over the addresses compares the entries.
#pragma once
#include <stdlib.h>

#include "gn_twin/shadow/vector_clock.h"
#include "gn_twin/shadow/happens_before.h"
#include "gn_twin/shadow/row_set.h"
#include "gn_twin/shadow/access_site.h"

namespace gn_twin {

// How an access uses its bytes. Equal: it writes the bytes that are already there. Awaits, Counts: the reads and writes
// of an operation through which blocks wait for each other (Kind::Words).
enum class Use : uint8_t { Read, Write, Atomic, Equal, Awaits, Counts };

inline constexpr bool OnlyReads(Use use) { return use == Use::Read || use == Use::Awaits; }
inline constexpr bool IsCounter(Use use) { return use == Use::Awaits || use == Use::Counts; }
// Whether two accesses of different blocks may touch the same bytes at the same time, if one of them writes.
inline constexpr bool Agree(Use one, Use other) {
  return (one == Use::Atomic && other == Use::Atomic) || (IsCounter(one) && IsCounter(other));
}

// The accesses of one call of one block.
struct SharedRun {
  RowSet rows;
  uintptr_t begins = 0;  // where the first of its calls begins, of which `rows` may have a part only
  uint32_t block = 0;
  uint32_t site = 0;
  uint32_t window = 0;    // the latest window of `pipe`
  uint32_t interval = 0;  // the interval of `block` (HappensBefore)
  uint32_t place = 0;     // index before sorting
  Use use = Use::Read;
  uint8_t pipe = 0;
  bool late = false;  // may still be running after the flag that the other cores wait for

  bool SameCall(const SharedRun& other) const {
    return site == other.site && block == other.block && use == other.use && late == other.late && pipe == other.pipe &&
           interval == other.interval;
  }
};

class BlockAccesses {
 public:
  explicit BlockAccesses(uint32_t blocks) : order(blocks), syncs_(new uint32_t[blocks]()) {}
  ~BlockAccesses() {
    free(runs_);
    delete[] syncs_;
  }
  BlockAccesses(const BlockAccesses&) = delete;
  BlockAccesses& operator=(const BlockAccesses&) = delete;

  GNT_COLD void Add(const SharedRun& run) {
    for (uint32_t i = count_; i-- > 0 && i + kLookBack >= count_;) {
      if (!runs_[i].SameCall(run) || !runs_[i].rows.Absorb(run.rows)) continue;
      if (run.window > runs_[i].window) runs_[i].window = run.window;
      return;
    }
    if (count_ == room_ && !MakeRoom()) return;
    runs_[count_++] = run;
  }

  // Marks a block's runs as late if the block's flag for all cores does not cover them. The flag covers only the work
  // in `clock`.
  GNT_COLD void Cover(uint32_t block, const Clock& clock) {
    for (uint32_t i = 0; i < count_; ++i) {
      SharedRun& run = runs_[i];
      if (run.block == block && run.window > clock.at[run.pipe]) run.late = true;
    }
  }
  void SyncAll(uint32_t block) { ++syncs_[block]; }

  HappensBefore order;  // between two SyncAll

  // Compares and drops the accesses before a SyncAll, when the first block continues after it. Call this before a block
  // adds accesses. Late runs stay, and so do the runs of a block that ended without that SyncAll: nothing orders them
  // before later accesses.
  template <class Found>
  GNT_COLD void Enter(uint32_t block, Found found) {
    if (syncs_[block] <= epoch_) return;
    Sweep(found);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (syncs_[runs_[i].block] > epoch_ && !runs_[i].late) continue;
      runs_[kept] = runs_[i];
      runs_[kept++].late = false;
    }
    count_ = kept;
    packed_ = false;
    epoch_ = syncs_[block];
  }

  // Calls found(run, other, address) for each pair of runs of different blocks that race: `other` writes bytes that
  // `run` reads or writes, HappensBefore does not order the two, and their uses do not agree. `address`: a byte that
  // both touch. If one of the two is a counter's, `run` is the other one, which the kernel can move elsewhere.
  template <class Found>
  GNT_COLD void Sweep(Found found) {
    bool several = false;
    for (uint32_t i = 1; i < count_ && !several; ++i) several = runs_[i].block != runs_[0].block;
    if (!several) return;
    Sort(ByAddress);
    // The runs that end after the current address, in two lists: reads, and other uses. A read is compared only with
    // the second list, because two reads never conflict.
    uint32_t* const open = static_cast<uint32_t*>(malloc(2 * sizeof(uint32_t) * count_));
    if (open == nullptr) return;
    uint32_t* const lists[] = {open, open + count_};
    uint32_t lengths[] = {0, 0};
    for (uint32_t i = 0; i < count_; ++i) {
      const SharedRun& run = runs_[i];
      for (uint32_t list = OnlyReads(run.use) ? 1 : 0; list < 2; ++list) {
        for (uint32_t j = 0; j < lengths[list];) {
          const SharedRun& other = runs_[lists[list][j]];
          if (other.rows.End() <= run.rows.at) {
            lists[list][j] = lists[list][--lengths[list]];
            continue;
          }
          ++j;
          if (other.block == run.block || Agree(run.use, other.use)) continue;
          const uintptr_t at = run.rows.Common(other.rows);
          if (at == 0 || order.InOrder(run.interval, other.interval)) continue;
          const bool swap = IsCounter(run.use) != IsCounter(other.use)
                                ? IsCounter(run.use)
                                : OnlyReads(other.use) || (!OnlyReads(run.use) && run.block < other.block);
          swap ? found(other, run, at) : found(run, other, at);
        }
      }
      const uint32_t mine = OnlyReads(run.use) ? 0 : 1;
      lists[mine][lengths[mine]++] = i;
    }
    free(open);
  }

 private:
  static constexpr uint32_t kLookBack = 8;
  static constexpr uint32_t kMost = 1u << 19;  // 28 MiB; of more runs between two SyncAll, the later are not checked

  // Sorts the runs and keeps equal ones in their order, because the first race found must not depend on how a C
  // library's qsort treats ties.
  void Sort(int (*compare)(const void*, const void*)) {
    for (uint32_t i = 0; i < count_; ++i) runs_[i].place = i;
    qsort(runs_, count_, sizeof(SharedRun), compare);
  }
  static int ByAddress(const void* a, const void* b) {
    const SharedRun& x = *static_cast<const SharedRun*>(a);
    const SharedRun& y = *static_cast<const SharedRun*>(b);
    if (x.rows.at != y.rows.at) return x.rows.at < y.rows.at ? -1 : 1;
    return x.place < y.place ? -1 : 1;
  }
  static int ByCall(const void* a, const void* b) {
    const SharedRun& x = *static_cast<const SharedRun*>(a);
    const SharedRun& y = *static_cast<const SharedRun*>(b);
    if (x.block != y.block) return x.block < y.block ? -1 : 1;
    if (x.site != y.site) return x.site < y.site ? -1 : 1;
    if (x.use != y.use) return x.use < y.use ? -1 : 1;
    if (x.interval != y.interval) return x.interval < y.interval ? -1 : 1;
    return ByAddress(a, b);
  }

  GNT_COLD bool MakeRoom() {
    if (room_ < kMost) {
      const uint32_t room = room_ == 0 ? 64 : 2 * room_;
      void* const runs = realloc(runs_, room * sizeof(SharedRun));
      if (runs == nullptr) return false;
      runs_ = static_cast<SharedRun*>(runs);
      room_ = room;
      return true;
    }
    if (packed_) return false;
    packed_ = true;
    Sort(ByCall);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (kept > 0 && runs_[kept - 1].SameCall(runs_[i]) && runs_[kept - 1].rows.Absorb(runs_[i].rows)) {
        if (runs_[i].window > runs_[kept - 1].window) runs_[kept - 1].window = runs_[i].window;
        continue;
      }
      runs_[kept++] = runs_[i];
    }
    packed_ = kept > kMost / 2;  // if fewer are left, packing is worth its time again
    count_ = kept;
    return count_ < room_;
  }

  uint32_t* syncs_;     // for each block, the number of SyncAll that it has reached
  uint32_t epoch_ = 0;  // number of SyncAll before these runs
  SharedRun* runs_ = nullptr;
  uint32_t count_ = 0;
  uint32_t room_ = 0;
  bool packed_ = false;
};

// A core's unfinished runs, one per call. A run ends if an access does not continue it or another call takes its slot.
class OpenRuns {
 public:
  struct Open {
    Site site;
    SharedRun run;
  };

  // Returns the run of this call; `run.rows.count` is 0 in a new one. `finish` receives the run that a new one
  // replaces.
  template <class Finish>
  Open& Of(Sites& sites, const Site& site, Use use, uint8_t pipe, Finish finish) {
    Open& open = open_[(site.loc.line * 4 + static_cast<uint32_t>(use) + pipe) % kOpen];
    if (open.site.loc.line == site.loc.line && open.run.use == use && open.run.pipe == pipe &&
        open.site.loc.file == site.loc.file && open.site.op == site.op)
      return open;
    if (open.run.rows.count != 0) finish(open);
    open.site = site;
    open.run.rows = RowSet{};
    open.run.site = sites.Number(site.loc, site.op);
    open.run.use = use;
    open.run.pipe = pipe;
    return open;
  }
  template <class Finish>
  void FinishAll(Finish finish) {
    for (Open& open : open_) {
      if (open.run.rows.count != 0) finish(open);
      open.run.rows = RowSet{};
    }
  }

 private:
  static constexpr uint32_t kOpen = 32;
  Open open_[kOpen];
};

}  // namespace gn_twin
