// Local memory without TPipe: LocalMemAllocator hands out the Unified Buffer from its start (static-tensor style).
//
// Source: docs/zh/api, 资源管理/LocalMemAllocator. Lengths are not rounded: after a tensor whose length is not a multiple
// of 32 bytes the next one is misaligned, and the twin refuses it.
#pragma once
#include "gn_twin/basic_api/memory/pipe.h"

namespace AscendC {

template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
 public:
  static_assert(hard == Hardware::UB, "not on the twin yet: LocalMemAllocator of other memories than Hardware::UB");

  // Returns the address of the first free byte.
  uint32_t GetCurAddr() const { return static_cast<uint32_t>(head_); }

  template <class DataType, uint32_t tileSize>
  LocalTensor<DataType> Alloc(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Take<DataType>(TPosition::VECCALC, tileSize, loc);
  }
  template <TPosition pos, class DataType, uint32_t tileSize>
  LocalTensor<DataType> Alloc(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Take<DataType>(pos, tileSize, loc);
  }
  template <class DataType>
  LocalTensor<DataType> Alloc(uint32_t tileSize, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Take<DataType>(TPosition::VECCALC, tileSize, loc);
  }
  template <TPosition pos, class DataType>
  LocalTensor<DataType> Alloc(uint32_t tileSize, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Take<DataType>(pos, tileSize, loc);
  }

 private:
  template <class T>
  LocalTensor<T> Take(TPosition pos, uint32_t elements, gn_twin::Loc loc) {
    gn_twin::Core& core = gn_twin::ThisCore();
    const uint64_t bytes = uint64_t{elements} * sizeof(T);
    if constexpr (gn_twin::kObserved) {
      if (core.pipe != nullptr) core.Refuse("allocator-with-pipe", loc, {});
      gn_twin::CheckPlace(core, "LocalMemAllocator::Alloc", head_, bytes, loc);
    }
    T* at = reinterpret_cast<T*>(core.ub + head_);
    head_ += bytes;
    return LocalTensor<T>(at, elements, pos, gn_twin::kNoBuffer, core.NoteTensor({loc, "Alloc"}));
  }

  uint64_t head_ = 0;
};

// Sets popLocal to all of the Unified Buffer above InitBuffer's memory except the last 128 bytes, and returns whether
// any is left. popLocal is scratch memory, which the next caller overwrites.
template <class T, TPosition pos = TPosition::LCM>
inline bool PopStackBuffer(LocalTensor<T>& popLocal, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Core& core = gn_twin::ThisCore();
  const uint64_t first = core.pipe != nullptr ? static_cast<TPipe*>(core.pipe)->Used() : 0;
  const uint64_t end = gn_twin::kUbBytes - 128;
  const uint64_t bytes = first < end ? end - first : 0;
  popLocal = LocalTensor<T>(reinterpret_cast<T*>(core.ub + first), static_cast<uint32_t>(bytes / sizeof(T)), pos,
                            gn_twin::kNoBuffer, core.NoteTensor({loc, "PopStackBuffer"}));
  return bytes > 0;
}

}  // namespace AscendC
