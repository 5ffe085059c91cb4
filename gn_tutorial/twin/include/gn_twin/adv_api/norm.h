// LayerNorm, Normalize, DeepNorm, RmsNorm bring rows to mean 0 and variance 1 (RmsNorm: to mean square 1).
//
// Source: docs/zh/api, 高阶API/归一化操作. If rows are padded to whole blocks, reductions leave out the padding, but all other
// steps include it. T: data; U: gamma and beta; M: the statistics.
#pragma once
#include "gn_twin/adv_api/norm_rows.h"

namespace AscendC {

struct LayerNormConfig {
  bool isNoBeta = false;
  bool isNoGamma = false;
  bool isOnlyOutput = false;
  bool isOutputRstd = true;
};
inline constexpr LayerNormConfig LNCFG_NORM = {false, false, false, true};
struct LayerNormPara {
  uint32_t aLength;
  uint32_t rLength;
  uint32_t rLengthWithPadding;
};

enum class ReducePattern : uint32_t { AR = 0, RA = 1 };
struct NormalizeConfig {
  ReducePattern reducePattern = ReducePattern::AR;
  int32_t aLength = -1;
  bool isNoBeta = false;
  bool isNoGamma = false;
  bool isOnlyOutput = false;
};
inline constexpr NormalizeConfig NLCFG_NORM = {ReducePattern::AR, -1, false, false, false};
struct NormalizePara {
  uint32_t aLength;
  uint32_t rLength;
  uint32_t rLengthWithPadding;
};

}  // namespace AscendC

namespace gn_twin {

// The other tensors that a normalisation reads and writes. A null pointer means that the statistic is not requested,
// that gamma is 1, or that beta is 0.
template <class U, class M>
struct NormOperands {
  const LocalTensor<M>* mean;
  const LocalTensor<M>* spread;  // the variance, or the inverse root of variance + epsilon
  const LocalTensor<U>* gamma;
  const LocalTensor<U>* beta;
};

template <class T, class U, class M>
void CheckNorm(const char* name, Loc loc, const Matrix& matrix, const LocalTensor<T>& dst, const LocalTensor<T>& src,
               const NormOperands<U, M>& with, Access statistics) {
  static_assert(kOneOf<T, half, float> && kOneOf<U, half, float>, "this function on Atlas A2 takes half, float");
  if constexpr (kObserved) {
    const uint64_t bytes = matrix.Elements() * sizeof(T);
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, name, matrix, sizeof(T));
      operation.Local("src", src, bytes, Access::Read);
      if (with.gamma != nullptr) operation.Local("gamma", *with.gamma, RowBytes<U>(matrix), Access::Read);
      if (with.beta != nullptr) operation.Local("beta", *with.beta, RowBytes<U>(matrix), Access::Read);
      if (with.mean != nullptr) operation.Local("mean", *with.mean, uint64_t{matrix.rows} * sizeof(M), statistics);
      if (with.spread != nullptr) {
        operation.Local("variance", *with.spread, uint64_t{matrix.rows} * sizeof(M), statistics);
      }
      operation.Local("dst", dst, bytes, Access::Write);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
}

// Sets one row of dst to (x - mean) * factor * gamma + beta.
template <class T, class U, class M, class Value>
void NormaliseRow(const Rounder& rounder, const Matrix& matrix, uint32_t row, const LocalTensor<T>& dst, double mean,
                  double factor, const NormOperands<U, M>& with, Value value) {
  for (uint32_t column = 0; column < matrix.columns; ++column) {
    double result = (value(column) - mean) * factor;
    if (with.gamma != nullptr) result *= Wide(with.gamma->Data()[column]);
    if (with.beta != nullptr) result += Wide(with.beta->Data()[column]);
    dst.Data()[matrix.At(row, column)] = rounder.To<T>(result);
  }
}

// Normalises every row and stores its statistics. element(row, column): the number to normalise. rstd: store the
// inverse root of variance + epsilon, not the variance.
template <class T, class U, class M, class Element>
void RunLayerNorm(const char* name, Loc loc, const Matrix& matrix, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                  const NormOperands<U, M>& with, double epsilon, bool rstd, Element element) {
  CheckNorm(name, loc, matrix, dst, src, with, Access::Write);
  const Rounder rounder(ThisCore());
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const auto value = [&](uint32_t column) { return element(row, column); };
    const Moments moments = MomentsOf(matrix, value);
    const double factor = InverseRoot(moments.variance + epsilon);
    NormaliseRow(rounder, matrix, row, dst, moments.mean, factor, with, value);
    with.mean->Data()[row] = rounder.To<M>(moments.mean);
    with.spread->Data()[row] = rounder.To<M>(rstd ? factor : moments.variance);
  }
  ResetMaskRegister(ThisCore());
}

template <class T>
void RunRmsNorm(Loc loc, const Matrix& matrix, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                const LocalTensor<T>& gamma, double epsilon) {
  const NormOperands<T, T> with{nullptr, nullptr, &gamma, nullptr};
  CheckNorm("RmsNorm", loc, matrix, dst, src, with, Access::Write);
  const Rounder rounder(ThisCore());
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const auto value = [&](uint32_t column) { return Wide(src.Data()[matrix.At(row, column)]); };
    double squares = 0.0;
    for (uint32_t column = 0; column < matrix.live; ++column) squares += value(column) * value(column);
    NormaliseRow(rounder, matrix, row, dst, 0.0, InverseRoot(squares / matrix.live + epsilon), with, value);
  }
  ResetMaskRegister(ThisCore());
}

template <class T, class U, bool kRstd>
void RunNormalize(Loc loc, const Matrix& matrix, const LocalTensor<T>& dst, const LocalTensor<float>* rstd,
                  const LocalTensor<float>& mean, const LocalTensor<float>& variance, const LocalTensor<T>& src,
                  const LocalTensor<U>* gamma, const LocalTensor<U>* beta, double epsilon) {
  const NormOperands<U, float> with{&mean, &variance, gamma, beta};
  CheckNorm("Normalize", loc, matrix, dst, src, with, Access::Read);
  if constexpr (kObserved && kRstd) {
    EmitOperation("Normalize", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      operation.Local("outputRstd", *rstd, 4ull * matrix.rows, Access::Write);
      return operation.Emit(matrix.rows, RepeatsOf(matrix.rows, 4), 4);
    });
  }
  const Rounder rounder(ThisCore());
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const double factor = InverseRoot(Wide(variance.Data()[row]) + epsilon);
    NormaliseRow(rounder, matrix, row, dst, Wide(mean.Data()[row]), factor, with,
                 [&](uint32_t column) { return Wide(src.Data()[matrix.At(row, column)]); });
    if constexpr (kRstd) rstd->Data()[row] = rounder.To<float>(factor);
  }
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

// Defines each function with scratch memory or without.
#define GNT_NORM(SCRATCH)                                                                                              \
  template <class T, bool isReuseSource = false>                                                                       \
  inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                                \
                        const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,                            \
                        const LocalTensor<T>& gamma, const LocalTensor<T>& beta, SCRATCH const T epsilon,              \
                        LayerNormTiling& tiling, gn_twin::Loc loc = gn_twin::Loc::here()) {                            \
    const gn_twin::Matrix matrix = gn_twin::BshMatrix(tiling);                                                         \
    gn_twin::RunLayerNorm(                                                                                             \
        "LayerNorm", loc, matrix, output, inputX,                                                                      \
        gn_twin::NormOperands<T, T>{&outputMean, &outputVariance, &gamma, &beta}, gn_twin::Wide(epsilon), false,       \
        [&](uint32_t row, uint32_t column) { return gn_twin::Wide(inputX.Data()[matrix.At(row, column)]); });          \
  }                                                                                                                    \
  template <class U, class T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>                  \
  inline void LayerNorm(                                                                                               \
      const LocalTensor<T>& output, const LocalTensor<float>& outputMean, const LocalTensor<float>& outputRstd,        \
      const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon,      \
      SCRATCH const LayerNormPara& para, const LayerNormSeparateTiling&, gn_twin::Loc loc = gn_twin::Loc::here()) {    \
    const gn_twin::Matrix matrix{para.aLength, para.rLengthWithPadding, para.rLength};                                 \
    gn_twin::RunLayerNorm(                                                                                             \
        "LayerNorm", loc, matrix, output, inputX,                                                                      \
        gn_twin::NormOperands<U, float>{&outputMean, &outputRstd, config.isNoGamma ? nullptr : &gamma,                 \
                                        config.isNoBeta ? nullptr : &beta},                                            \
        gn_twin::Wide(epsilon), config.isOutputRstd,                                                                   \
        [&](uint32_t row, uint32_t column) { return gn_twin::Wide(inputX.Data()[matrix.At(row, column)]); });          \
  }                                                                                                                    \
  template <class U, class T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>                  \
  inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,                            \
                        const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,                  \
                        const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta,         \
                        SCRATCH const float epsilon, const NormalizePara& para,                                        \
                        gn_twin::Loc loc = gn_twin::Loc::here()) {                                                     \
    gn_twin::RunNormalize<T, U, !config.isOnlyOutput>(                                                                 \
        loc, gn_twin::Matrix{para.aLength, para.rLengthWithPadding, para.rLength}, output, &outputRstd, inputMean,     \
        inputVariance, inputX, config.isNoGamma ? nullptr : &gamma, config.isNoBeta ? nullptr : &beta,                 \
        gn_twin::Wide(epsilon));                                                                                       \
  }                                                                                                                    \
  /* LayerNorm of alpha * src + gx. rstdLocal, despite its name, gets the variance (docs/hardware-choices.md). */      \
  template <class T, bool isReuseSrc = false, bool isBasicBlock = false>                                               \
  inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal,                                \
                       const LocalTensor<T>& rstdLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, \
                       const LocalTensor<T>& betaLocal, const LocalTensor<T>& gammaLocal, SCRATCH const T alpha,       \
                       const T epsilon, DeepNormTiling& tiling, gn_twin::Loc loc = gn_twin::Loc::here()) {             \
    const gn_twin::Matrix matrix = gn_twin::BshMatrix(tiling);                                                         \
    if constexpr (gn_twin::kObserved) {                                                                                \
      gn_twin::EmitOperation(                                                                                          \
          "DeepNorm", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc, [&](gn_twin::Operation& operation) {               \
            operation.Local("gx", gxLocal, matrix.Elements() * sizeof(T), gn_twin::Access::Read);                      \
            return operation.Emit(matrix.Elements(), gn_twin::RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));     \
          });                                                                                                          \
    }                                                                                                                  \
    gn_twin::RunLayerNorm("DeepNorm", loc, matrix, dstLocal, srcLocal,                                                 \
                          gn_twin::NormOperands<T, T>{&meanLocal, &rstdLocal, &gammaLocal, &betaLocal},                \
                          gn_twin::Wide(epsilon), false, [&](uint32_t row, uint32_t column) {                          \
                            const uint64_t at = matrix.At(row, column);                                                \
                            return gn_twin::Wide(alpha) * gn_twin::Wide(srcLocal.Data()[at]) +                         \
                                   gn_twin::Wide(gxLocal.Data()[at]);                                                  \
                          });                                                                                          \
  }                                                                                                                    \
  template <class T, bool isBasicBlock = false>                                                                        \
  inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                                  \
                      const LocalTensor<T>& gammaLocal, SCRATCH const T epsilon, const RmsNormTiling& tiling,          \
                      gn_twin::Loc loc = gn_twin::Loc::here()) {                                                       \
    gn_twin::RunRmsNorm(loc, gn_twin::BshMatrix(tiling), dstLocal, srcLocal, gammaLocal, gn_twin::Wide(epsilon));      \
  }
GNT_NORM()
GNT_NORM(GNT_WITH_SCRATCH)
#undef GNT_NORM

}  // namespace AscendC
