// The compiler's own names for flags, barriers and the data cache. Kernels of 8.x call them without AscendC::.
//
// Source: docs/zh/api, 同步控制/核内同步 (the documented forms they stand for) and 缓存控制.
#pragma once
#include "gn_twin/basic_api/sync/sync.h"

namespace gn_twin {

inline const char* NameOf(pipe_t pipe) {
  switch (pipe) {
    case PIPE_S: return "PIPE_S";
    case PIPE_V: return "PIPE_V";
    case PIPE_M: return "PIPE_M";
    case PIPE_MTE1: return "PIPE_MTE1";
    case PIPE_MTE2: return "PIPE_MTE2";
    case PIPE_MTE3: return "PIPE_MTE3";
    case PIPE_ALL: return "PIPE_ALL";
    case PIPE_FIX: return "PIPE_FIX";
  }
  return "?";
}

// Returns the event that pipe `from` raises and pipe `to` waits for. Pipes are run-time arguments here, so a pair that
// a vector core does not have is reported only when the call runs.
inline HardEvent EventOf(const char* op, pipe_t from, pipe_t to, Loc loc) {
  constexpr HardEvent kEvents[] = {HardEvent::MTE2_V,    HardEvent::V_MTE2,    HardEvent::MTE3_V, HardEvent::V_MTE3,
                                   HardEvent::MTE3_MTE2, HardEvent::MTE2_MTE3, HardEvent::S_V,    HardEvent::V_S,
                                   HardEvent::S_MTE2,    HardEvent::MTE2_S,    HardEvent::S_MTE3, HardEvent::MTE3_S};
  const auto pipe_of = [](pipe_t pipe) {
    return pipe == PIPE_S      ? Pipe::S
           : pipe == PIPE_V    ? Pipe::V
           : pipe == PIPE_MTE2 ? Pipe::MTE2
           : pipe == PIPE_MTE3 ? Pipe::MTE3
                               : Pipe::All;
  };
  for (const HardEvent event : kEvents) {
    const PipePair pair = PipesOf(event);
    if (pair.from == pipe_of(from) && pair.to == pipe_of(to)) return event;
  }
  ThisCore().Stop("flag-pipes", loc, {{"op", op}, {"from", NameOf(from)}, {"to", NameOf(to)}});
}

}  // namespace gn_twin

inline void set_flag(pipe_t from, pipe_t to, int32_t id, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Raise(gn_twin::ThisCore(), gn_twin::EventOf("set_flag", from, to, loc), id, loc);
}
inline void wait_flag(pipe_t from, pipe_t to, int32_t id, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Await(gn_twin::ThisCore(), gn_twin::EventOf("wait_flag", from, to, loc), id, loc);
}
inline void pipe_barrier(pipe_t pipe, gn_twin::Loc loc = gn_twin::Loc::here()) {
  if (pipe == PIPE_S) return gn_twin::ThisCore().Refuse("barrier-scalar", loc, {{"op", "pipe_barrier"}});
  gn_twin::Barrier("pipe_barrier", pipe, loc);
}

enum cache_line_t : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum dcci_dst_t : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
template <class T, class Lines>
inline void dcci(__gm__ T* address, Lines lines, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CleanCache("dcci", gn_twin::SpaceCast<T*>(address), static_cast<uint64_t>(lines) == ENTIRE_DATA_CACHE, loc);
}
template <class T, class Lines, class Target>
inline void dcci(__gm__ T* address, Lines lines, Target, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CleanCache("dcci", gn_twin::SpaceCast<T*>(address), static_cast<uint64_t>(lines) == ENTIRE_DATA_CACHE, loc);
}
