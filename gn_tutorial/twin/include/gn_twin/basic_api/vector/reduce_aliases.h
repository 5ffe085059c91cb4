// The names of 9.x for the reductions of a repeat, a block and a pair, with the operation as a template argument.
//
// Source: docs/zh/api, 归约计算/ReduceRepeat, ReduceDataBlock, ReducePairElem. Here the mask comes before the repeat count.
#pragma once
#include "gn_twin/basic_api/vector/reduce.h"

namespace AscendC {

enum class ReduceType : uint8_t { SUM, MAX, MIN };

template <ReduceType reduceType, class T, class U = T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, Mask mask, const int32_t repeatTime,
                         const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                         ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kSame<T, U>, "reductions on Atlas A2 keep the element type");
  if constexpr (reduceType == ReduceType::SUM) {
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, loc);
  } else if constexpr (reduceType == ReduceType::MAX) {
    WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order, loc);
  } else {
    WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order, loc);
  }
}

template <ReduceType reduceType, class T, class U = T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, Mask mask, const int32_t repeatTime,
                            const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                            gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kSame<T, U>, "reductions on Atlas A2 keep the element type");
  if constexpr (reduceType == ReduceType::SUM) {
    BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, loc);
  } else if constexpr (reduceType == ReduceType::MAX) {
    BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, loc);
  } else {
    BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, loc);
  }
}

template <ReduceType reduceType, class T, class U = T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, Mask mask, const int32_t repeatTime,
                           const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                           gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kSame<T, U>, "reductions on Atlas A2 keep the element type");
  static_assert(reduceType == ReduceType::SUM, "pairs can only be added");
  PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, loc);
}

}  // namespace AscendC
