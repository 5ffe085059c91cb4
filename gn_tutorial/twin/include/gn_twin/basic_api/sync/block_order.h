// Order between single blocks through global memory: IBSet and IBWait, and blocks that take turns in ascending order
// (InitDetermineComputeWorkspace, WaitPreBlock, NotifyNextBlock).
//
// Source: docs/zh/api, 同步控制/核间同步. On the device a waiting block reads its word until the word has changed; here the
// block is suspended.
#pragma once
#include "gn_twin/basic_api/sync/sync.h"

namespace gn_twin {

// Checks both workspaces and returns the word of slot `slot` in global memory. A slot has 32 bytes.
inline int32_t* OrderSlot(const char* op, Loc loc, const AscendC::GlobalTensor<int32_t>& gm,
                          const AscendC::LocalTensor<int32_t>& ub, uint64_t slot, uint64_t ub_bytes) {
  if constexpr (kObserved) {
    Operation operation(op, Kind::Barrier, Pipe::All, loc);
    operation.Global("gmWorkspace", gm, (slot + 1) * kBlockBytes, Access::ReadWrite);
    operation.Local("ubWorkspace", ub, ub_bytes, Access::ReadWrite);
    operation.Emit(0, 0, sizeof(int32_t));
  }
  return gm.Data() + slot * (kBlockBytes / sizeof(int32_t));
}

// Emits the event that the block set `word` for other blocks (Release), or waited for it (Acquire).
inline void EmitOrder(Core& core, Kind kind, const char* op, const int32_t* word, Loc loc) {
  EmitPlace(core, kind, op, word, 0, Space::GM, loc);
}

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
  PipeBarrier<PIPE_ALL>(loc);
  const uint64_t slot = gn_twin::BlockEventSlot("IBSet", loc, blockIdx, eventID);
  int32_t* word = gn_twin::OrderSlot("IBSet", loc, gmWorkspace, ubWorkspace, slot, gn_twin::kBlockBytes);
  gn_twin::Core& core = gn_twin::ThisCore();
  core.scheduler->WaitUntil(core, "IBSet", loc, [word] { return *word == 0; });
  gn_twin::EmitOrder(core, gn_twin::Kind::Acquire, "IBSet", word, loc);
  *word = 1;
  gn_twin::EmitOrder(core, gn_twin::Kind::Release, "IBSet", word, loc);
}
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
                   int32_t eventID, gn_twin::Loc loc = gn_twin::Loc::here()) {
  PipeBarrier<PIPE_ALL>(loc);
  const uint64_t slot = gn_twin::BlockEventSlot("IBWait", loc, blockIdx, eventID);
  int32_t* word = gn_twin::OrderSlot("IBWait", loc, gmWorkspace, ubWorkspace, slot, gn_twin::kBlockBytes);
  gn_twin::Core& core = gn_twin::ThisCore();
  core.scheduler->WaitUntil(core, "IBWait", loc, [word] { return *word == 1; });
  gn_twin::EmitOrder(core, gn_twin::Kind::Acquire, "IBWait", word, loc);
  *word = 0;
  gn_twin::EmitOrder(core, gn_twin::Kind::Release, "IBWait", word, loc);
}

// Gives the turn to block 0. All blocks must call it, and none continues before all have called it.
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                                          gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Core& core = gn_twin::ThisCore();
  const uint64_t blocks = core.job->blocks;
  int32_t* last = gn_twin::OrderSlot("InitDetermineComputeWorkspace", loc, gmWorkspace, ubWorkspace, blocks - 1,
                                     (blocks + 1) * gn_twin::kBlockBytes);
  if (core.block == 0) {
    for (int32_t* word = gmWorkspace.Data(); word <= last; word += gn_twin::kBlockBytes / sizeof(int32_t)) *word = 0;
    gmWorkspace.Data()[0] = 1;
  }
  core.scheduler->SyncAll(core, "InitDetermineComputeWorkspace", loc);
}
inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                         gn_twin::Loc loc = gn_twin::Loc::here()) {
  PipeBarrier<PIPE_ALL>(loc);
  gn_twin::Core& core = gn_twin::ThisCore();
  const int32_t* word = gn_twin::OrderSlot("WaitPreBlock", loc, gmWorkspace, ubWorkspace, core.block,
                                           (core.job->blocks + 1ull) * gn_twin::kBlockBytes);
  core.scheduler->WaitUntil(core, "WaitPreBlock", loc, [word] { return *word == 1; });
  gn_twin::EmitOrder(core, gn_twin::Kind::Acquire, "WaitPreBlock", word, loc);
}
inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                            gn_twin::Loc loc = gn_twin::Loc::here()) {
  PipeBarrier<PIPE_ALL>(loc);
  gn_twin::Core& core = gn_twin::ThisCore();
  int32_t* own = gn_twin::OrderSlot("NotifyNextBlock", loc, gmWorkspace, ubWorkspace, core.block,
                                    (core.job->blocks + 1ull) * gn_twin::kBlockBytes);
  int32_t* next = gmWorkspace.Data() + (core.block + 1) % core.job->blocks * (gn_twin::kBlockBytes / sizeof(int32_t));
  *own = 0;
  *next = 1;
  gn_twin::EmitOrder(core, gn_twin::Kind::Release, "NotifyNextBlock", next, loc);
}

}  // namespace AscendC
