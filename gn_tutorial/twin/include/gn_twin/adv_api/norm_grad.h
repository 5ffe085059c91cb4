// LayerNormGrad and LayerNormGradBeta: the gradients of LayerNorm with respect to x, gamma and beta.
//
// Source: docs/zh/api, 高阶API/归一化操作/LayerNormGrad, which has the formulas. mean and variance are those of LayerNorm.
#pragma once
#include "gn_twin/adv_api/norm_rows.h"

namespace AscendC {

struct LayerNormGradShapeInfo {
  DataFormat dataFormat = DataFormat::ND;
};

}  // namespace AscendC

namespace gn_twin {

// Computes, with s = (variance + epsilon)^(-1/2), c = x - mean, g = dy * gamma and sums over the H elements of a row:
//   resForGamma = c s
//   pdX = g s + (2 / H) c v + m / H, where v = -1/2 s^3 sum(g c) and m = -s sum(g) - (2 / H) v sum(c).
template <class T>
void RunLayerNormGrad(Loc loc, const Matrix& matrix, const LocalTensor<T>& pd_x, const LocalTensor<T>& res_for_gamma,
                      const LocalTensor<T>& dy, const LocalTensor<T>& x, const LocalTensor<T>& variance,
                      const LocalTensor<T>& mean, const LocalTensor<T>& gamma, double epsilon) {
  static_assert(kOneOf<T, half, float>, "LayerNormGrad on Atlas A2 takes half, float");
  if constexpr (kObserved) {
    const uint64_t bytes = matrix.Elements() * sizeof(T);
    EmitOperation("LayerNormGrad", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "LayerNormGrad", matrix, sizeof(T));
      operation.Local("inputDy", dy, bytes, Access::Read).Local("inputX", x, bytes, Access::Read);
      operation.Local("inputVariance", variance, uint64_t{matrix.rows} * sizeof(T), Access::Read);
      operation.Local("inputMean", mean, uint64_t{matrix.rows} * sizeof(T), Access::Read);
      operation.Local("inputGamma", gamma, RowBytes<T>(matrix), Access::Read);
      operation.Local("outputPdX", pd_x, bytes, Access::Write);
      operation.Local("resForGamma", res_for_gamma, bytes, Access::Write);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  const double length = matrix.live;
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const double row_mean = Wide(mean.Data()[row]);
    const double scale = InverseRoot(Wide(variance.Data()[row]) + epsilon);
    const auto centred = [&](uint32_t column) { return Wide(x.Data()[matrix.At(row, column)]) - row_mean; };
    const auto gradient = [&](uint32_t column) {
      return Wide(dy.Data()[matrix.At(row, column)]) * Wide(gamma.Data()[column]);
    };
    double products = 0.0;
    double gradients = 0.0;
    double offsets = 0.0;
    for (uint32_t column = 0; column < matrix.live; ++column) {
      products += gradient(column) * centred(column);
      gradients += gradient(column);
      offsets += centred(column);
    }
    const double by_variance = -0.5 * scale * scale * scale * products;
    const double by_mean = -scale * gradients - 2.0 / length * by_variance * offsets;
    for (uint32_t column = 0; column < matrix.columns; ++column) {
      const uint64_t at = matrix.At(row, column);
      // Both results are computed before either is stored, because they may overwrite the sources.
      const double c = centred(column);
      const double result = gradient(column) * scale + by_variance * 2.0 / length * c + by_mean / length;
      pd_x.Data()[at] = rounder.To<T>(result);
      res_for_gamma.Data()[at] = rounder.To<T>(c * scale);
    }
  }
  ResetMaskRegister(ThisCore());
}

// Sums over all rows: pdGamma is the sum of dy * resForGamma, pdBeta that of dy.
template <class T>
void RunLayerNormGradBeta(Loc loc, const Matrix& matrix, const LocalTensor<T>& pd_gamma, const LocalTensor<T>& pd_beta,
                          const LocalTensor<T>& res_for_gamma, const LocalTensor<T>& dy) {
  static_assert(kOneOf<T, half, float>, "LayerNormGradBeta on Atlas A2 takes half, float");
  if constexpr (kObserved) {
    const uint64_t bytes = matrix.Elements() * sizeof(T);
    EmitOperation("LayerNormGradBeta", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "LayerNormGradBeta", matrix, sizeof(T));
      operation.Local("outputPdGamma", pd_gamma, RowBytes<T>(matrix), Access::Write);
      operation.Local("outputPdBeta", pd_beta, RowBytes<T>(matrix), Access::Write);
      operation.Local("resForGamma", res_for_gamma, bytes, Access::Read).Local("inputDy", dy, bytes, Access::Read);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  for (uint32_t column = 0; column < matrix.columns; ++column) {
    double gamma = 0.0;
    double beta = 0.0;
    for (uint32_t row = 0; row < matrix.rows; ++row) {
      const uint64_t at = matrix.At(row, column);
      gamma += Wide(dy.Data()[at]) * Wide(res_for_gamma.Data()[at]);
      beta += Wide(dy.Data()[at]);
    }
    pd_gamma.Data()[column] = rounder.To<T>(gamma);
    pd_beta.Data()[column] = rounder.To<T>(beta);
  }
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

#define GNT_NORM_GRAD(SCRATCH)                                                                                         \
  template <class T, bool isReuseSource = false>                                                                       \
  inline void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma,                        \
                            const LocalTensor<T>& inputDy, const LocalTensor<T>& inputX,                               \
                            const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,                      \
                            const LocalTensor<T>& inputGamma, SCRATCH T epsilon, LayerNormGradTiling& tiling,          \
                            const LayerNormGradShapeInfo& = {}, gn_twin::Loc loc = gn_twin::Loc::here()) {             \
    gn_twin::RunLayerNormGrad(loc, gn_twin::BshMatrix(tiling), outputPdX, resForGamma, inputDy, inputX, inputVariance, \
                              inputMean, inputGamma, gn_twin::Wide(epsilon));                                          \
  }                                                                                                                    \
  template <class T, bool isReuseSource = false>                                                                       \
  inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,               \
                                const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,                      \
                                SCRATCH const LayerNormGradBetaTiling& tiling,                                         \
                                gn_twin::Loc loc = gn_twin::Loc::here()) {                                             \
    gn_twin::RunLayerNormGradBeta(loc, gn_twin::BshMatrix(tiling), outputPdGamma, outputPdBeta, resForGamma, inputDy); \
  }
GNT_NORM_GRAD()
GNT_NORM_GRAD(GNT_WITH_SCRATCH)
#undef GNT_NORM_GRAD

}  // namespace AscendC
