// Fill, InitGlobalMemory and InitOutput: set elements of global memory to one value.
//
// Source: docs/zh/api, 高阶API/张量变换/Fill. The value goes through the part of the Unified Buffer that InitBuffer has not
// allocated. The documentation allows these calls only before InitBuffer, and leaves the order relative to later copies
// to the kernel.
#pragma once
#include "gn_twin/basic_api/memory/data_copy.h"
#include "gn_twin/tensor/lanes.h"
#include "gn_twin/basic_api/memory/local_mem_allocator.h"
#include "gn_twin/basic_api/sync/sync.h"

namespace gn_twin {

template <class T>
void RunFill(const char* op, Loc loc, const GlobalTensor<T>& dst, uint64_t size, T value) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "filling global memory on Atlas A2 takes 16- and 32-bit elements");
  LocalTensor<T> scratch;
  AscendC::PopStackBuffer<T, AscendC::TPosition::LCM>(scratch);
  const uint64_t staged = size < scratch.GetSize() ? size : scratch.GetSize();
  if constexpr (kObserved) {
    if (scratch.GetSize() * sizeof(T) < kBlockBytes && size > 0) ThisCore().Stop("fill-no-scratch", loc, {{"op", op}});
    EmitOperation(op, Kind::Vector, Pipe::V, loc, [&](Operation& fill) {
      fill.Local("scratch", scratch, staged * sizeof(T), Access::Write);
      return fill.Emit(staged, static_cast<uint32_t>((staged * sizeof(T) + kRepeatBytes - 1) / kRepeatBytes),
                       sizeof(T));
    });
    // The copies wait for the value with an event id that is not reserved, as in the device's function.
    const int id = LowestFreeId(ThisCore(), HardEvent::V_MTE3);
    EmitFlag(ThisCore(), Kind::SetFlag, HardEvent::V_MTE3, id < 0 ? 0 : id, loc, op);
    EmitFlag(ThisCore(), Kind::WaitFlag, HardEvent::V_MTE3, id < 0 ? 0 : id, loc, op);
    EmitOperation(op, Kind::Copy, Pipe::MTE3, loc, [&](Operation& store) {
      RequireAtomicType<T>(store);
      store.Global("dst", dst, size * sizeof(T), Access::Write).Rows(1, size * sizeof(T), size * sizeof(T));
      store.Local("scratch", scratch, staged * sizeof(T), Access::Read);
      return store.Emit(size, 0, sizeof(T));
    });
  }
  for (uint64_t i = 0; i < staged; ++i) scratch.Data()[i] = value;
  uint8_t* const target = reinterpret_cast<uint8_t*>(dst.Data());
  const uint8_t* const source = scratch.Bytes();
  const uint64_t whole = size * sizeof(T);
  const uint64_t part = staged * sizeof(T);
  const Store store(ThisCore());
  Transfer(Pipe::MTE3, target, whole, source, part, [=] {
    for (uint64_t done = 0; done < whole; done += part) {
      const uint64_t bytes = whole - done < part ? whole - done : part;
      store(target + done, {1, bytes, bytes}, source, {1, bytes, bytes});
    }
  });
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

// Sets the first `size` elements to the value, or combines them with it if an atomic operation is set.
template <class T>
inline void Fill(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunFill("Fill", loc, gmWorkspaceAddr, size, value);
}
// The names of Fill in 8.x. InitGlobalMemory ends with a barrier of the store pipe, MTE3.
template <class T>
inline void InitGlobalMemory(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value,
                             gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunFill("InitGlobalMemory", loc, gmWorkspaceAddr, size, value);
  PipeBarrier<PIPE_MTE3>(loc);
}
template <class T>
inline void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = T(0),
                       gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunFill("InitOutput", loc, gmWorkspaceAddr, size, value);
}

}  // namespace AscendC
