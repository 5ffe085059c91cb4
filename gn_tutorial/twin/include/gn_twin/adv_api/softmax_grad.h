// SoftmaxGrad and SoftmaxGradFront: the gradient of SoftMax, from its result (src) and the gradient of the result
// (grad).
//
// Source: docs/zh/api, 高阶API/激活函数/SoftMax接口. With `front`, dst gets one 32-byte block per row, filled with the row's
// sum of grad * src.
#pragma once
#include "gn_twin/adv_api/softmax_rows.h"

namespace gn_twin {

template <class T>
void RunSoftmaxGrad(const char* name, Loc loc, const Matrix& matrix, const LocalTensor<T>& dst,
                    const LocalTensor<T>& grad, const LocalTensor<T>& src, bool front) {
  static_assert(kOneOf<T, half, float>, "SoftmaxGrad on Atlas A2 takes half, float");
  const PerRow<T> sums(dst, true);
  if constexpr (kObserved) {
    const uint64_t bytes = matrix.Elements() * sizeof(T);
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, name, matrix, sizeof(T));
      if (front) {
        sums.Check(operation, "dst", matrix.rows, Access::Write);
      } else {
        operation.Local("dst", dst, bytes, Access::Write);
      }
      operation.Local("gradTensor", grad, bytes, Access::Read).Local("src", src, bytes, Access::Read);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    double sum = 0.0;
    for (uint32_t column = 0; column < matrix.live; ++column) {
      const uint64_t at = matrix.At(row, column);
      sum += Wide(grad.Data()[at]) * Wide(src.Data()[at]);
    }
    if (front) {
      // dst may be src, because this row's block of results lies before the rows that are still to be read.
      sums.Write(row, rounder.To<T>(sum));
      continue;
    }
    for (uint32_t column = 0; column < matrix.columns; ++column) {
      const uint64_t at = matrix.At(row, column);
      dst.Data()[at] = rounder.To<T>((Wide(grad.Data()[at]) - sum) * Wide(src.Data()[at]));
    }
  }
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

#define GNT_SOFTMAX_GRAD(SCRATCH)                                                                                     \
  template <class T, bool isReuseSource = false, bool isDataFormatNZ = false>                                         \
  inline void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,                          \
                          const LocalTensor<T>& srcTensor, SCRATCH const SoftMaxTiling& tiling, bool isFront = false, \
                          const SoftMaxShapeInfo& softmaxShapeInfo = {}, gn_twin::Loc loc = gn_twin::Loc::here()) {   \
    gn_twin::RunSoftmaxGrad("SoftmaxGrad", loc,                                                                       \
                            gn_twin::SoftMaxMatrix(srcTensor, tiling, softmaxShapeInfo, isDataFormatNZ), dstTensor,   \
                            gradTensor, srcTensor, isFront);                                                          \
  }                                                                                                                   \
  template <class T, bool isBasicBlock = false, bool isDataFormatNZ = false>                                          \
  inline void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,                     \
                               const LocalTensor<T>& srcTensor, SCRATCH const SoftMaxTiling& tiling,                  \
                               const SoftMaxShapeInfo& softmaxShapeInfo = {},                                         \
                               gn_twin::Loc loc = gn_twin::Loc::here()) {                                             \
    gn_twin::RunSoftmaxGrad("SoftmaxGradFront", loc,                                                                  \
                            gn_twin::SoftMaxMatrix(srcTensor, tiling, softmaxShapeInfo, isDataFormatNZ), dstTensor,   \
                            gradTensor, srcTensor, true);                                                             \
  }
GNT_SOFTMAX_GRAD()
GNT_SOFTMAX_GRAD(GNT_WITH_SCRATCH)
#undef GNT_SOFTMAX_GRAD

}  // namespace AscendC
