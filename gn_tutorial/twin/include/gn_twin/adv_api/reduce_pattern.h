// Reductions of a matrix along one of its axes: ReduceMax, ReduceMin, ReduceSum, ReduceProd and ReduceMean with a
// pattern; Mean.
//
// Pattern AR reduces the inner axis (one result per row), RA the outer axis (one result per column).
// Source: docs/zh/api, 高阶API/归约操作. Sums and products are computed in double and rounded at the end.
#pragma once
#include "gn_twin/adv_api/activation.h"
#include "gn_twin/adv_api/matrix.h"
#include "gn_twin/basic_api/vector/reduce.h"
#include "gn_twin/adv_api/broadcast_sum.h"

namespace AscendC {

namespace Pattern::Reduce {
struct AR {
  static constexpr bool kAlongRow = true;
};
struct RA {
  static constexpr bool kAlongRow = false;
};
}  // namespace Pattern::Reduce

struct MeanParams {
  uint32_t outter = 1;  // rows
  uint32_t inner = 0;   // row stride in elements, whole 32-byte blocks
  uint32_t n = 0;       // elements of a row to average
};

}  // namespace AscendC

namespace gn_twin {

// A fold combines the result so far with one more element. Finish turns the last result and the number of elements into
// the value to store.
template <class Op>
struct FoldExtreme {
  bool ignore_nan;
  double operator()(double old, double value) const {
    return Better<Op>(static_cast<float>(value), static_cast<float>(old), ignore_nan) ? value : old;
  }
  double Finish(double value, uint32_t) const { return value; }
};
struct FoldSum {
  double operator()(double old, double value) const { return old + value; }
  double Finish(double value, uint32_t) const { return value; }
};
struct FoldMean : FoldSum {
  double Finish(double value, uint32_t count) const { return value / count; }
};
struct FoldProduct {
  double operator()(double old, double value) const { return old * value; }
  double Finish(double value, uint32_t) const { return value; }
};

template <class T, class Fold>
void RunPattern(const char* name, Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Matrix& matrix,
                bool along_row, Fold fold) {
  const uint32_t results = along_row ? matrix.rows : matrix.columns;
  const uint32_t steps = along_row ? matrix.live : matrix.rows;
  if constexpr (kObserved) {
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, name, matrix, sizeof(T));
      operation.Local("dst", dst, uint64_t{results} * sizeof(T), Access::Write);
      operation.Local("src", src, matrix.Elements() * sizeof(T), Access::Read);
      RequireApart(name, loc, dst, uint64_t{results} * sizeof(T), src, matrix.Elements() * sizeof(T));
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  for (uint32_t i = 0; i < results && steps > 0; ++i) {
    const auto element = [&](uint32_t step) {
      return Wide(src.Data()[along_row ? matrix.At(i, step) : matrix.At(step, i)]);
    };
    double value = element(0);
    for (uint32_t step = 1; step < steps; ++step) value = fold(value, element(step));
    dst.Data()[i] = rounder.To<T>(fold.Finish(value, steps));
  }
  ResetMaskRegister(ThisCore());
}

template <class Op>
FoldExtreme<Op> FoldOf() {
  return {IgnoresNan(ThisCore())};
}

}  // namespace gn_twin

namespace AscendC {

// srcShape: rows and columns. Atlas A2 takes rows of whole 32-byte blocks only (srcInnerPad = true).
#define GNT_PATTERN(NAME, FOLD, SCRATCH, ...)                                                                \
  template <class T, class pattern, bool isReuseSource = false>                                              \
    requires requires { pattern::kAlongRow; }                                                                \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, SCRATCH const uint32_t srcShape[],  \
                   bool srcInnerPad, gn_twin::Loc loc = gn_twin::Loc::here()) {                              \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " with a pattern on Atlas A2 takes " #__VA_ARGS__); \
    if (!srcInnerPad) gn_twin::ThisCore().Refuse("reduce-inner-pad", loc, {{"op", #NAME}});                  \
    gn_twin::RunPattern(#NAME, loc, dst, src, gn_twin::Matrix{srcShape[0], srcShape[1], srcShape[1]},        \
                        pattern::kAlongRow, FOLD);                                                           \
  }
#define GNT_PATTERNS(NAME, FOLD, ...)    \
  GNT_PATTERN(NAME, FOLD, , __VA_ARGS__) \
  GNT_PATTERN(NAME, FOLD, GNT_WITH_SCRATCH, __VA_ARGS__)
GNT_PATTERNS(ReduceMax, gn_twin::FoldOf<gn_twin::MaxOp>(), half, float)
GNT_PATTERNS(ReduceMin, gn_twin::FoldOf<gn_twin::MinOp>(), half, float)
GNT_PATTERNS(ReduceSum, gn_twin::FoldSum{}, float)
GNT_PATTERNS(ReduceProd, gn_twin::FoldProduct{}, float)
GNT_PATTERNS(ReduceMean, gn_twin::FoldMean{}, float)
#undef GNT_PATTERN
#undef GNT_PATTERNS

// Mean stores one mean for each row.
#define GNT_MEAN(SCRATCH)                                                                                              \
  template <class T, class accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1> \
  inline void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, SCRATCH const MeanParams& meanParams,         \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                          \
    static_assert(gn_twin::kOneOf<T, half, float>, "Mean takes half, float");                                          \
    gn_twin::RunPattern("Mean", loc, dst, src, gn_twin::Matrix{meanParams.outter, meanParams.inner, meanParams.n},     \
                        true, gn_twin::FoldMean{});                                                                    \
  }
GNT_MEAN()
GNT_MEAN(GNT_WITH_SCRATCH)
#undef GNT_MEAN

}  // namespace AscendC
