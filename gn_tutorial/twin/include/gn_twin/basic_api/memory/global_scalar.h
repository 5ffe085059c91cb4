// Reads and writes of global memory that bypass the scalar unit's data cache, and the barrier for them.
//
// Source: docs/zh/api, 标量计算/ReadGmByPassDCache, WriteGmByPassDCache and 同步控制/核内同步/DataSyncBarrier. The twin's scalar
// unit has no cache, so these are plain reads and writes.
#pragma once
#include "gn_twin/basic_api/sync/sync.h"
#include "gn_twin/tensor/tensor.h"

namespace gn_twin {

// Checks that the address lies in a kernel argument, and notes the access. It does not use GetValue, because the
// checker of the data cache must not see these accesses.
template <class T>
void CheckPassing(const char* op, T* addr, Loc loc) {
  if constexpr (kObserved) {
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(SpaceCast<__gm__ T*>(addr));
    Core& core = ThisCore();
    core.At(loc);
    tensor.Check(core, op, "addr", sizeof(T), loc);
    op[0] == 'R' ? NoteGlobalRead(core, op, addr, loc) : NoteGlobalStore(core, op, addr, sizeof(T), loc);
  }
}

}  // namespace gn_twin

namespace AscendC {

enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };

template <class T>
inline T ReadGmByPassDCache(__gm__ T* addr, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>,
                "ReadGmByPassDCache takes integers");
  gn_twin::Poll(loc);
  gn_twin::CheckPassing("ReadGmByPassDCache", gn_twin::SpaceCast<T*>(addr), loc);
  return *addr;
}
template <class T>
inline void WriteGmByPassDCache(__gm__ T* addr, T value, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>,
                "WriteGmByPassDCache takes integers");
  gn_twin::CheckPassing("WriteGmByPassDCache", gn_twin::SpaceCast<T*>(addr), loc);
  *addr = value;
}

// On the device the scalar unit waits until its own reads and writes have finished. On the twin this is a barrier of
// all pipes.
template <MemDsbT arg0>
inline void DataSyncBarrier(gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Barrier("DataSyncBarrier", PIPE_ALL, loc);
}

}  // namespace AscendC
