// SoftMax, SimpleSoftMax, LogSoftMax over the rows of a matrix, and AdjustSoftMaxRes.
//
// Source: docs/zh/api, 高阶API/激活函数/SoftMax接口 and LogSoftMax接口. T: the data; S: the rows' maximum and sum.
#pragma once
#include "gn_twin/adv_api/activation.h"
#include "gn_twin/adv_api/softmax_rows.h"

namespace gn_twin {

// Sets dst to last(e^(x - max) / sum). Also stores each row's maximum and sum, if `max` and `sum` are not null.
template <class T, class S, class Last>
void RunSoftMax(const char* name, Loc loc, const Matrix& matrix, const LocalTensor<T>& dst, const LocalTensor<S>* sum,
                const LocalTensor<S>* max, const LocalTensor<T>& src, Last last) {
  static_assert(kOneOf<T, half, float> && kOneOf<S, half, float>, "this function on Atlas A2 takes half, float");
  Core& core = ThisCore();
  if constexpr (kObserved) {
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, name, matrix, sizeof(T));
      operation.Local("dst", dst, matrix.Elements() * sizeof(T), Access::Write);
      if (sum != nullptr) PerRow<S>(*sum, true).Check(operation, "sumTensor", matrix.rows, Access::Write);
      if (max != nullptr) PerRow<S>(*max, true).Check(operation, "maxTensor", matrix.rows, Access::Write);
      operation.Local("src", src, matrix.Elements() * sizeof(T), Access::Read);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(core);
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const double row_max = RowMax(matrix, src.Data(), row, kMinusInfinity);
    const double row_sum = RowExp(matrix, src.Data(), row, row_max, [](uint64_t, double) {});
    RowExp(matrix, src.Data(), row, row_max,
           [&](uint64_t at, double power) { dst.Data()[at] = rounder.To<T>(last(power / row_sum)); });
    if (sum != nullptr) PerRow<S>(*sum, true).Write(row, rounder.To<S>(row_sum));
    if (max != nullptr) PerRow<S>(*max, true).Write(row, rounder.To<S>(row_max));
  }
  ResetMaskRegister(core);
}

// Itself and DecimalLog convert the quotient to the function's result.
struct Itself {
  double operator()(double value) const { return value; }
};
struct DecimalLog {
  double operator()(double value) const { return elementary::Log10(value); }
};

template <class T, class S>
void RunSimpleSoftMax(Loc loc, const Matrix& matrix, const LocalTensor<T>& dst, const LocalTensor<S>& sum,
                      const LocalTensor<S>& max, const LocalTensor<T>& src) {
  static_assert(kOneOf<T, half, float> && kOneOf<S, half, float>, "SimpleSoftMax on Atlas A2 takes half, float");
  const PerRow<S> sums(sum, true);
  const PerRow<S> maxima(max, true);
  if constexpr (kObserved) {
    EmitOperation("SimpleSoftMax", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "SimpleSoftMax", matrix, sizeof(T));
      operation.Local("dst", dst, matrix.Elements() * sizeof(T), Access::Write);
      sums.Check(operation, "inSumTensor", matrix.rows, Access::Read);
      maxima.Check(operation, "inMaxTensor", matrix.rows, Access::Read);
      operation.Local("src", src, matrix.Elements() * sizeof(T), Access::Read);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const double sum_of_row = sums.Read(row);
    RowExp(matrix, src.Data(), row, maxima.Read(row),
           [&](uint64_t at, double power) { dst.Data()[at] = rounder.To<T>(power / sum_of_row); });
  }
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

// Defines each function with scratch memory or without. SCRATCH: the parameter with its comma, or nothing.
#define GNT_SOFTMAX(SCRATCH)                                                                                           \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,               \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>                                                \
  inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<S>& sumTensor,                                \
                      const LocalTensor<S>& maxTensor, const LocalTensor<T>& srcTensor,                                \
                      SCRATCH const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {},              \
                      gn_twin::Loc loc = gn_twin::Loc::here()) {                                                       \
    gn_twin::RunSoftMax("SoftMax", loc, gn_twin::SoftMaxMatrix(srcTensor, tiling, softmaxShapeInfo, isDataFormatNZ),   \
                        dstTensor, &sumTensor, &maxTensor, srcTensor, gn_twin::Itself{});                              \
  }                                                                                                                    \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false,                                            \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                         \
  inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                \
                      SCRATCH const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {},              \
                      gn_twin::Loc loc = gn_twin::Loc::here()) {                                                       \
    const LocalTensor<T>* nowhere = nullptr;                                                                           \
    gn_twin::RunSoftMax("SoftMax", loc, gn_twin::SoftMaxMatrix(srcTensor, tiling, softmaxShapeInfo, false), dstTensor, \
                        nowhere, nowhere, srcTensor, gn_twin::Itself{});                                               \
  }                                                                                                                    \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,               \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>                                                \
  inline void SimpleSoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<S>& inSumTensor,                        \
                            const LocalTensor<S>& inMaxTensor, const LocalTensor<T>& srcTensor,                        \
                            SCRATCH const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {},        \
                            gn_twin::Loc loc = gn_twin::Loc::here()) {                                                 \
    gn_twin::RunSimpleSoftMax(loc, gn_twin::SoftMaxMatrix(srcTensor, tiling, softmaxShapeInfo, isDataFormatNZ),        \
                              dstTensor, inSumTensor, inMaxTensor, srcTensor);                                         \
  }
GNT_SOFTMAX()
GNT_SOFTMAX(GNT_WITH_SCRATCH)
#undef GNT_SOFTMAX

// Computes the decimal logarithm of SoftMax. dst and src must not overlap.
template <class T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                       const LocalTensor<T>& src, const gn_twin::Scratch&, const LogSoftMaxTiling& tiling,
                       const SoftMaxShapeInfo& softmaxShapeInfo = {}, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Matrix matrix = gn_twin::SoftMaxMatrix(src, tiling, softmaxShapeInfo, isDataFormatNZ);
  gn_twin::RequireApart("LogSoftMax", loc, dst, src, matrix.Elements() * sizeof(T));
  gn_twin::RunSoftMax("LogSoftMax", loc, matrix, dst, &sum, &max, src, gn_twin::DecimalLog{});
}

// Sets all elements of a row to `to`, if the row's maximum has the bits `from`. Returns whether there was such a row.
// `from` has the bits of a float, or those of a half in its lower 16 bits. stepSizeMode 0: maxTensor holds a 32-byte
// block for each row; otherwise it holds one element for each row.
template <class T1, class T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
inline bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor, const uint32_t from,
                             const T1 to, const SoftMaxShapeInfo& softmaxShapeInfo,
                             gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T1, half, float> && gn_twin::kOneOf<T2, half, float>,
                "AdjustSoftMaxRes on Atlas A2 takes half, float");
  const gn_twin::Matrix matrix{softmaxShapeInfo.srcM, softmaxShapeInfo.srcK, softmaxShapeInfo.srcK, isDataFormatNZ};
  constexpr uint32_t kStep = stepSizeMode == 0 ? gn_twin::kBlockBytes / sizeof(T2) : 1;
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation(
        "AdjustSoftMaxRes", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc, [&](gn_twin::Operation& operation) {
          gn_twin::RequireMatrix(operation, "AdjustSoftMaxRes", matrix, sizeof(T1));
          operation.Local("softMaxRes", softMaxRes, matrix.Elements() * sizeof(T1), gn_twin::Access::ReadWrite);
          operation.Local("maxTensor", maxTensor, uint64_t{matrix.rows} * kStep * sizeof(T2), gn_twin::Access::Read);
          return operation.Emit(matrix.Elements(), gn_twin::RepeatsOf(matrix.Elements(), sizeof(T1)), sizeof(T1));
        });
  }
  bool found = false;
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    uint32_t bits = 0;
    __builtin_memcpy(&bits, maxTensor.Data() + uint64_t{row} * kStep, sizeof(T2));
    if (bits != from) continue;
    found = true;
    for (uint32_t column = 0; column < matrix.columns; ++column) softMaxRes.Data()[matrix.At(row, column)] = to;
  }
  return found;
}

}  // namespace AscendC
