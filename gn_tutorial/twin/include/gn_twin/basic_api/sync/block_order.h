// Order between single blocks through global memory: IBSet and IBWait, and blocks that take turns in ascending order
// (InitDetermineComputeWorkspace, WaitPreBlock, NotifyNextBlock).
//
// Source: docs/zh/api, 同步控制/核间同步. On the device a waiting block reads its word until the word has changed; here the
// block is suspended.
#pragma once
#include "gn_twin/basic_api/sync/sync.h"

namespace gn_twin {

// A word of global memory through which one block waits for another, and the workspaces of the operation that uses it.
// A slot has 32 bytes in global memory, and the word is the first of them.
struct OrderWord {
  const char* op;
  Loc loc;
  AscendC::GlobalTensor<int32_t> gm;
  const AscendC::LocalTensor<int32_t>& ub;
  uint64_t ub_bytes;
  uint64_t slot;
  Core& core = ThisCore();

  // Takes slot `slot` of `whole`, and checks that the slot lies in it and that its word is 0 or 1.
  OrderWord(const char* op, Loc loc, const AscendC::GlobalTensor<int32_t>& whole,
            const AscendC::LocalTensor<int32_t>& ub, uint64_t slot, uint64_t ub_bytes)
      : op(op), loc(loc), gm(whole[slot * kSlotWords]), ub(ub), ub_bytes(ub_bytes), slot(slot) {
    if constexpr (kObserved) gm.Check(core, op, "gmWorkspace", kBlockBytes, loc);
  }

  // Suspends the block until the word has this value.
  void Wait(int32_t value) const {
    int32_t* const word = gm.Data();
    if (*word != 0 && *word != 1) ReportCounter(core, op, loc, slot, *word, 0, false);
    EmitCounters(op, loc, Access::Read, gm, kBlockBytes, ub, ub_bytes);
    core.scheduler->WaitUntil(core, op, loc, [word, value] { return *word == value; });
    EmitPlace(core, Kind::Acquire, op, word, 0, Space::GM, loc);
  }
  // Writes the word. Tell also lets the block go on that waits for the value.
  void Write(int32_t value) const {
    EmitCounters(op, loc, Access::Write, gm, kBlockBytes, ub, ub_bytes);
    SetSlot(gm.Data(), value);
    LeaveIn(ub, 1, value);
  }
  void Tell(int32_t value) const {
    Write(value);
    EmitPlace(core, Kind::Release, op, gm.Data(), 0, Space::GM, loc);
  }
};

inline uint64_t BlockEventSlot(const char* op, Loc loc, int32_t block, int32_t event) {
  Core& core = ThisCore();
  if (block < 0 || static_cast<uint32_t>(block) >= core.job->blocks || event < 0) {
    core.Stop("block-event", loc, {{"op", op}, {"block", block}, {"blocks", core.job->blocks}, {"event", event}});
  }
  return uint64_t{core.job->blocks} * static_cast<uint32_t>(event) + static_cast<uint32_t>(block);
}

}  // namespace gn_twin

namespace AscendC {

// IBSet sets the event of one block. Another block waits for the event by IBWait with the same arguments. IBWait clears
// the word again, and IBSet first waits until the word is clear, so the same event can be used repeatedly.
template <bool isAIVOnly = true>
inline void IBSet(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
                  int32_t eventID, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Barrier("IBSet", PIPE_ALL, loc);
  const uint64_t slot = gn_twin::BlockEventSlot("IBSet", loc, blockIdx, eventID);
  const gn_twin::OrderWord word("IBSet", loc, gmWorkspace, ubWorkspace, slot, gn_twin::kBlockBytes);
  word.Wait(0);
  word.Tell(1);
}
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
                   int32_t eventID, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Barrier("IBWait", PIPE_ALL, loc);
  const uint64_t slot = gn_twin::BlockEventSlot("IBWait", loc, blockIdx, eventID);
  const gn_twin::OrderWord word("IBWait", loc, gmWorkspace, ubWorkspace, slot, gn_twin::kBlockBytes);
  word.Wait(1);
  word.Tell(0);
}

// Gives the turn to block 0. All blocks must call it, and none continues before all have called it. The workspaces: 32
// bytes per block in global memory, and 32 bytes more in local memory.
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                                          gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Core& core = gn_twin::ThisCore();
  const uint32_t blocks = core.job->blocks;
  const uint64_t bytes = uint64_t{blocks} * gn_twin::kBlockBytes;
  if constexpr (gn_twin::kObserved) gmWorkspace.Check(core, "InitDetermineComputeWorkspace", "gmWorkspace", bytes, loc);
  gn_twin::Barrier("InitDetermineComputeWorkspace", PIPE_ALL, loc);
  if (core.block == 0) {
    gn_twin::EmitCounters("InitDetermineComputeWorkspace", loc, gn_twin::Access::Write, gmWorkspace, bytes, ubWorkspace,
                          bytes + gn_twin::kBlockBytes);
    for (uint32_t slot = 0; slot < blocks; ++slot)
      gn_twin::SetSlot(gmWorkspace.Data() + slot * gn_twin::kSlotWords, slot == 0 ? 1 : 0);
    gn_twin::LeaveIn(ubWorkspace, blocks + 1, 0);
  }
  core.scheduler->SyncAll(core, "InitDetermineComputeWorkspace", loc);
}
inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                         gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Barrier("WaitPreBlock", PIPE_ALL, loc);
  const gn_twin::Core& core = gn_twin::ThisCore();
  const uint64_t ub_bytes = (core.job->blocks + 1ull) * gn_twin::kBlockBytes;
  gn_twin::OrderWord("WaitPreBlock", loc, gmWorkspace, ubWorkspace, core.block, ub_bytes).Wait(1);
}
inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                            gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Barrier("NotifyNextBlock", PIPE_ALL, loc);
  const gn_twin::Core& core = gn_twin::ThisCore();
  const uint64_t ub_bytes = (core.job->blocks + 1ull) * gn_twin::kBlockBytes;
  const uint32_t next = (core.block + 1) % core.job->blocks;
  gn_twin::OrderWord("NotifyNextBlock", loc, gmWorkspace, ubWorkspace, core.block, ub_bytes).Write(0);
  gn_twin::OrderWord("NotifyNextBlock", loc, gmWorkspace, ubWorkspace, next, ub_bytes).Tell(1);
}

}  // namespace AscendC
