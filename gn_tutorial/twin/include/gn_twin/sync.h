// Flags and barriers between the pipes of one core.
//
// Source: docs/zh/api, 同步控制/核内同步. The twin executes in program order, so these never change a result here: they are
// checked for pairing and told to the observer, which decides what order they guarantee.
#pragma once
#include "gn_twin/event_ids.h"
#include "gn_twin/tensor.h"

namespace AscendC {

template <HardEvent event>
inline void SetFlag(int32_t eventID, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Raise(gn_twin::ThisCore(), event, eventID, loc);
}
template <HardEvent event>
inline void WaitFlag(int32_t eventID, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Await(gn_twin::ThisCore(), event, eventID, loc);
}

// Later instructions of the pipe start after the earlier ones have finished. PIPE_S is not allowed.
template <pipe_t pipe>
inline void PipeBarrier(gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(pipe != PIPE_S,
                "PipeBarrier takes PIPE_V, PIPE_MTE2, PIPE_MTE3 or PIPE_ALL; the scalar unit works in order");
  gn_twin::Core& core = gn_twin::ThisCore();
  core.At(loc);
  if (core.observer == nullptr) return;
  gn_twin::Event barrier;
  barrier.kind = gn_twin::Kind::Barrier;
  barrier.pipe = pipe == PIPE_V      ? gn_twin::Pipe::V
                 : pipe == PIPE_MTE2 ? gn_twin::Pipe::MTE2
                 : pipe == PIPE_MTE3 ? gn_twin::Pipe::MTE3
                                     : gn_twin::Pipe::All;
  barrier.op = "PipeBarrier";
  barrier.loc = loc;
  core.Emit(barrier);
}

// Writes back and drops lines of the scalar unit's data cache. The twin's scalar unit has none: global memory is always current.
template <class T, CacheLine entireType, DcciDst dcciDst>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {}
template <class T, CacheLine entireType>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {}
template <class T, CacheLine entireType, DcciDst dcciDst>
inline void DataCacheCleanAndInvalid(const LocalTensor<T>&) {}

}  // namespace AscendC
