// Flags and barriers: between the pipes of one core, and between cores.
//
// Source: docs/zh/api, 同步控制. The twin executes a block in program order, so flags and pipe barriers change no result
// unless copies are delayed (TwinOptions.delayed_dma). The twin checks that each wait has its flag, and emits events.
// The race checker derives the guaranteed order from the events.
#pragma once
#include "gn_twin/basic_api/sync/kernel_type.h"
#include "gn_twin/core/scheduler.h"
#include "gn_twin/tensor/event_ids.h"
#include "gn_twin/tensor/operand.h"

namespace AscendC {

template <HardEvent event>
inline void SetFlag(int32_t eventID, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Raise(gn_twin::ThisCore(), event, eventID, loc);
}
template <HardEvent event>
inline void WaitFlag(int32_t eventID, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Await(gn_twin::ThisCore(), event, eventID, loc);
}

}  // namespace AscendC

namespace gn_twin {

// Lets the other blocks run at every 1024th call. It is called when a kernel refreshes its view of global memory, which
// the kernel may do in a loop that waits for another block.
inline void Poll(Loc loc) {
  Core& core = ThisCore();
  if (!core.InTurn()) StopBlock();
  if (++core.looks % 1024 == 0) core.scheduler->Yield(core, loc);
}

inline Pipe PipeOf(pipe_t pipe) {
  return pipe == PIPE_V ? Pipe::V : pipe == PIPE_MTE2 ? Pipe::MTE2 : pipe == PIPE_MTE3 ? Pipe::MTE3 : Pipe::All;
}

GNT_NOINLINE inline void Barrier(const char* op, pipe_t pipe, Loc loc, Kind kind = Kind::Barrier) {
  Core& core = ThisCore();
  core.At(loc);
  if (kObserved && core.delayed != nullptr) [[unlikely]] {
    if (kind == Kind::CrossFlag) core.delayed->SetCrossFlag(PipeOf(pipe));
    if (kind == Kind::Barrier && PipeOf(pipe) == Pipe::All) core.delayed->RunAll();
  }
  EmitPipe(core, kind, op, PipeOf(pipe), loc);
}

// Emits the event that lines of the data cache are written back and dropped: the line of `at`, or all lines if `all`.
inline void CleanCache(const char* op, const void* at, bool all, Loc loc) {
  Poll(loc);
  Core& core = ThisCore();
  core.At(loc);
  if (all) return EmitPipe(core, Kind::CleanCache, op, Pipe::S, loc);
  EmitPlace(core, Kind::CleanCache, op, at, 0, Space::GM, loc);
}

// Emits an access to words of global memory through which blocks wait for each other: the first `bytes` bytes of `gm`.
// The operation moves them by way of its workspace in the Unified Buffer, of which it uses `ub_bytes` bytes.
GNT_COLD inline void EmitCounters(const char* op, Loc loc, Access access, const AscendC::GlobalTensor<int32_t>& gm,
                                  uint64_t bytes, const AscendC::LocalTensor<int32_t>& ub, uint64_t ub_bytes) {
  if (!kObserved) return;
  EmitOperation(op, Kind::Words, Pipe::MTE3, loc, [&](Operation& operation) {
    operation.Global("gmWorkspace", gm, bytes, access).Local("ubWorkspace", ub, ub_bytes, Access::ReadWrite);
    return operation.Emit(0, 0, sizeof(int32_t));
  });
}
inline constexpr uint32_t kSlotWords = kBlockBytes / sizeof(int32_t);
// Writes a counter and the zeros behind it, which fill its 32 bytes, because an operation copies whole blocks.
inline void SetSlot(int32_t* slot, int32_t value) {
  slot[0] = value;
  for (uint32_t i = 1; i < kSlotWords; ++i) slot[i] = 0;
}
// Leaves the counters in the operation's workspace, as far as the tensor has room.
inline void LeaveIn(const AscendC::LocalTensor<int32_t>& ub, uint32_t slots, int32_t value) {
  for (uint32_t slot = 0; slot < slots && (slot + 1) * kSlotWords <= ub.GetSize(); ++slot)
    SetSlot(ub.Data() + slot * kSlotWords, value);
}
// Reports a counter that nobody set to zero before the launch, or that something else has overwritten. `goes_on`: the
// launch can continue, so that the race checker also finds what has overwritten the counter.
GNT_COLD inline void ReportCounter(Core& core, const char* op, Loc loc, uint64_t slot, int32_t value, int32_t wanted,
                                   bool goes_on) {
  const FieldList fields{{"op", op}, {"slot", slot}, {"value", value}, {"wanted", wanted}};
  goes_on ? core.Fault("sync-all-workspace", loc, {}, fields) : core.Refuse("sync-all-workspace", loc, fields);
}

// Suspends the block until `cores` blocks (0: all of the launch) have arrived.
inline void SyncBlocks(const char* op, Core& core, Loc loc, uint32_t cores = 0) {
  EmitPipe(core, Kind::SyncAll, op, Pipe::All, loc);
  if (kObserved && core.delayed != nullptr) core.delayed->WaitCrossFlag();
  core.scheduler->SyncAll(core, op, loc, cores);
}

}  // namespace gn_twin

namespace AscendC {

// Makes later instructions of the pipe start after the earlier ones have finished. PIPE_S is not allowed.
template <pipe_t pipe>
inline void PipeBarrier(gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(pipe != PIPE_S,
                "PipeBarrier takes PIPE_V, PIPE_MTE2, PIPE_MTE3 or PIPE_ALL; the scalar unit works in order");
  gn_twin::Barrier("PipeBarrier", pipe, loc);
}

// Writes back and drops lines of the scalar unit's data cache: the line of the tensor's first element (from that
// element to the end of the line), or all lines. The twin accesses global memory itself, without a cache;
// checkers/data_cache.h finds where the device would give other results.
template <class T, CacheLine entireType, DcciDst dcciDst>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CleanCache("DataCacheCleanAndInvalid", dst.Data(), entireType == CacheLine::ENTIRE_DATA_CACHE, loc);
}
template <class T, CacheLine entireType>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CleanCache("DataCacheCleanAndInvalid", dst.Data(), entireType == CacheLine::ENTIRE_DATA_CACHE, loc);
}
template <class T, CacheLine entireType, DcciDst dcciDst>
inline void DataCacheCleanAndInvalid(const LocalTensor<T>&) {}

// Brings one line of global memory into the data cache. The twin has none, so there is nothing to do.
template <class T>
inline void DataCachePreload(const GlobalTensor<uint64_t>&, const T) {}

// A barrier of all blocks (the hardware form). Every launched block must call it equally often: if one returns early,
// the others wait for ever, which the twin reports.
template <bool isAIVOnly = true>
inline void SyncAll(gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireWaitingCores(gn_twin::ThisCore(), "SyncAll", loc);
  PipeBarrier<PIPE_ALL>(loc);
  gn_twin::SyncBlocks("SyncAll", gn_twin::ThisCore(), loc);
}

// The software form of SyncAll. It takes counters in global memory (32 bytes per block, zero before the launch) and
// local memory of the same size.
template <bool isAIVOnly = true>
inline void SyncAll(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
                    const int32_t usedCores = 0, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Core& core = gn_twin::ThisCore();
  const uint32_t cores = usedCores > 0 ? static_cast<uint32_t>(usedCores) : core.job->blocks;
  const uint64_t bytes = uint64_t{cores} * gn_twin::kBlockBytes;
  const GlobalTensor<int32_t> own = gmWorkspace[core.block * gn_twin::kSlotWords];
  gn_twin::Barrier("SyncAll", PIPE_ALL, loc);
  if constexpr (gn_twin::kObserved) {
    if (core.pipe == nullptr) core.Refuse("sync-all-without-pipe", loc, {});
    gmWorkspace.Check(core, "SyncAll", "gmWorkspace", bytes, loc);
    own.Check(core, "SyncAll", "gmWorkspace", gn_twin::kBlockBytes, loc);
  }
  // Each block counts its own calls in its slot. If the slot does not hold the number of calls so far, it was not zero
  // at the start, or something else wrote to it.
  if (*own.Data() != core.soft_syncs)
    gn_twin::ReportCounter(core, "SyncAll", loc, core.block, *own.Data(), core.soft_syncs, gn_twin::kObserved);
  gn_twin::EmitCounters("SyncAll", loc, gn_twin::Access::Write, own, gn_twin::kBlockBytes, ubWorkspace, bytes);
  gn_twin::SetSlot(own.Data(), ++core.soft_syncs);
  gn_twin::SyncBlocks("SyncAll", core, loc, cores);
  // The block has read the other counters again and again, and may still do so when the first ones go on.
  gn_twin::EmitCounters("SyncAll", loc, gn_twin::Access::Read, gmWorkspace, bytes, ubWorkspace, bytes);
  gn_twin::LeaveIn(ubWorkspace, cores, core.soft_syncs);
}

}  // namespace AscendC
