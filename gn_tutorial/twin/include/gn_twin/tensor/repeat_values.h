// The lanes of one repeat, copied out of an operand and back. In between, code loops over an array, which the compiler
// can vectorise whatever the strides are.
#pragma once
#include "gn_twin/tensor/lanes.h"

namespace gn_twin {

template <class T>
struct RepeatValues {
  T lane[kLanes<T>];

  void Fill(T value) {
    for (T& one : lane) one = value;
  }
  // Copies the first `lanes` lanes of a repeat; the other lanes stay.
  void Load(const T* from, Strides strides, uint32_t repeat, uint32_t lanes) {
    ForPieces(strides, repeat, lanes, [&](uint64_t index, uint32_t first, uint32_t bytes) {
      __builtin_memcpy(lane + first, from + index, bytes);
    });
  }
  // Copies the active lanes of a repeat.
  void Store(T* to, Strides strides, uint32_t repeat, const Plan& plan) const {
    if (plan.prefix)
      return ForPieces(strides, repeat, plan.ActiveIn(repeat), [&](uint64_t index, uint32_t first, uint32_t bytes) {
        __builtin_memcpy(to + index, lane + first, bytes);
      });
    for (uint32_t i = 0; i < plan.lanes; ++i)
      if (plan.Active(i)) to[LaneIndex<T>(strides, repeat, i)] = lane[i];
  }

 private:
  // Calls visit(index in the operand, first lane, bytes) for each piece of lanes that is contiguous in memory.
  template <class Visit>
  static void ForPieces(Strides strides, uint32_t repeat, uint32_t lanes, Visit visit) {
    const uint32_t piece = strides.blk == 1 ? kLanes<T> : kBlockBytes / static_cast<uint32_t>(sizeof(T));
    for (uint32_t first = 0; first < lanes; first += piece) {
      const uint32_t count = lanes - first < piece ? lanes - first : piece;
      visit(LaneIndex<T>(strides, repeat, first), first, count * static_cast<uint32_t>(sizeof(T)));
    }
  }
};

}  // namespace gn_twin
