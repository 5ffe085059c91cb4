// High-level functions on matrices: Broadcast (BroadCast) repeats a row or a column, Sum adds up each row.
//
// Source: docs/zh/api, 高阶API/张量变换/Broadcast and 归约操作/Sum.
#pragma once
#include "gn_twin/adv_api/activation.h"
#include "gn_twin/basic_api/vector/reduce.h"

namespace AscendC {

struct SumParams {
  uint32_t outter = 1;  // rows
  uint32_t inner = 0;   // row stride in elements: at least n, whole 32-byte blocks
  uint32_t n = 0;       // elements of a row to add up
};

}  // namespace AscendC

namespace gn_twin {

// Fills a matrix of rows x columns from one row, one column, or a matrix of the same shape.
template <class T, int32_t kDim, int32_t kAxis>
void RunBroadcast(const char* name, Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t* to,
                  const uint32_t* from) {
  static_assert(kDim == 1 || kDim == 2, "Broadcast takes shapes of one or two dimensions");
  static_assert(kAxis >= 0 && kAxis < kDim, "Broadcast along axis 0, or with two dimensions along axis 1");
  static_assert(kOneOf<T, int8_t, uint8_t, half, float>, "Broadcast on Atlas A2 takes int8_t, uint8_t, half, float");
  const uint32_t rows = kDim == 2 ? to[0] : 1;
  const uint32_t columns = to[kDim - 1];
  const uint32_t src_rows = kDim == 2 ? from[0] : 1;
  const uint32_t src_columns = from[kDim - 1];
  if constexpr (kObserved) {
    const uint64_t out = uint64_t{rows} * columns * sizeof(T);
    const uint64_t in = uint64_t{src_rows} * src_columns * sizeof(T);
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      const bool spreads = (src_rows == rows || (kDim == 2 && kAxis == 0 && src_rows == 1)) &&
                           (src_columns == columns || (kAxis == kDim - 1 && src_columns == 1));
      const bool aligned = kDim == 1 || kAxis == 1 || src_columns * sizeof(T) % kBlockBytes == 0;
      if (!spreads || !aligned) {
        operation.Stop("broadcast-shape", {{"op", name},
                                           {"src_rows", src_rows},
                                           {"src_columns", src_columns},
                                           {"rows", rows},
                                           {"columns", columns},
                                           {"axis", kAxis}});
      }
      operation.Local("dst", dst, out, Access::Write);
      operation.Local("src", src, in, Access::Read);
      // If the source is one row and is also the first row of dst, this row is written onto itself.
      if (dst.Data() == src.Data() && src_rows == 1 && src_columns == columns && rows > 1) {
        operation.Warn("row-onto-itself", {{"op", name}, {"columns", columns}});
      } else {
        RequireApart(name, loc, dst, out, src, in);
      }
      return operation.Emit(out / sizeof(T), static_cast<uint32_t>((out + kRepeatBytes - 1) / kRepeatBytes), sizeof(T));
    });
  }
  for (uint32_t row = 0; row < rows; ++row) {
    const T* in = src.Data() + uint64_t{src_rows == 1 ? 0 : row} * src_columns;
    T* out = dst.Data() + uint64_t{row} * columns;
    for (uint32_t column = 0; column < columns; ++column) out[column] = in[src_columns == 1 ? 0 : column];
  }
}

}  // namespace gn_twin

namespace AscendC {

#define GNT_BROADCAST(NAME)                                                                            \
  template <class T, int32_t dim, int32_t axis, bool isReuseSource = false>                            \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dstShape[dim], \
                   const uint32_t srcShape[dim], gn_twin::Loc loc = gn_twin::Loc::here()) {            \
    gn_twin::RunBroadcast<T, dim, axis>(#NAME, loc, dst, src, dstShape, srcShape);                     \
  }                                                                                                    \
  template <class T, int32_t dim, int32_t axis, bool isReuseSource = false>                            \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dstShape[dim], \
                   const uint32_t srcShape[dim], LocalTensor<uint8_t>& sharedTmpBuffer,                \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                          \
    const gn_twin::Scratch scratch(sharedTmpBuffer);                                                   \
    gn_twin::RunBroadcast<T, dim, axis>(#NAME, loc, dst, src, dstShape, srcShape);                     \
  }
GNT_BROADCAST(Broadcast)
GNT_BROADCAST(BroadCast)  // the spelling of 8.x
#undef GNT_BROADCAST

// Stores one sum per row. The elements of each 256-byte repeat are added as a tree, as in ReduceSum and WholeReduceSum.
// The sums of the repeats are then added in the same way.
template <class T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SumParams& sumParams,
                gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float>, "Sum takes half, float");
  gn_twin::Core& core = gn_twin::ThisCore();
  if constexpr (gn_twin::kObserved) {
    const uint64_t in = sumParams.outter == 0 || sumParams.n == 0
                            ? 0
                            : (uint64_t{sumParams.outter - 1} * sumParams.inner + sumParams.n) * sizeof(T);
    gn_twin::EmitOperation("Sum", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc, [&](gn_twin::Operation& operation) {
      if (sumParams.n > sumParams.inner || sumParams.inner * sizeof(T) % gn_twin::kBlockBytes != 0) {
        operation.Stop("sum-shape", {{"inner", sumParams.inner}, {"n", sumParams.n}, {"element_bytes", sizeof(T)}});
      }
      operation.Local("dst", dst, uint64_t{sumParams.outter} * sizeof(T), gn_twin::Access::Write)
          .Rows(sumParams.outter, sizeof(T), sizeof(T));
      operation.Local("src", src, in, gn_twin::Access::Read)
          .Rows(sumParams.outter, sumParams.n * sizeof(T), sumParams.inner * sizeof(T));
      gn_twin::RequireApart("Sum", loc, dst, uint64_t{sumParams.outter} * sizeof(T), src, in);
      return operation.Flows(gn_twin::Flow::Fold)
          .Emit(uint64_t{sumParams.outter} * sumParams.n, sumParams.outter, sizeof(T));
    });
  }
  for (uint32_t row = 0; row < sumParams.outter; ++row) {
    const T* at = src.Data() + uint64_t{row} * sumParams.inner;
    T partial[gn_twin::kUbBytes / gn_twin::kRepeatBytes];  // a row is no longer than the Unified Buffer
    uint32_t count = sumParams.n;
    if (count == 0) dst.Data()[row] = T(0.0f);
    while (count > 0) {
      const gn_twin::Plan plan = gn_twin::LeadingPlan<T>(count);
      for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
        partial[repeat] = gn_twin::SumOfRepeat(core, plan, repeat, at, {});
      }
      at = partial;
      count = plan.repeats > 1 ? plan.repeats : 0;
      dst.Data()[row] = partial[0];
    }
  }
  gn_twin::ResetMaskRegister(core);
}
template <class T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&,
                const SumParams& sumParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  Sum<T, reduceDim, isReuseSource, isBasicBlock>(dst, src, sumParams, loc);
}

}  // namespace AscendC
