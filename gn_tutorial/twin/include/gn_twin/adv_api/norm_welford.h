// WelfordUpdate and WelfordFinalize: mean and variance of a row that arrives in pieces of equal length, in one pass.
//
// WelfordUpdate keeps a mean and a sum of squares for every column of the pieces. WelfordFinalize combines all columns
// into one mean and one variance.
// Source: docs/zh/api, 高阶API/归一化操作.
#pragma once
#include "gn_twin/adv_api/norm_rows.h"

namespace AscendC {

struct WelfordUpdateConfig {
  bool isInplace = false;
};
inline constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
struct WelfordUpdateParam {
  uint32_t rnLength;
  uint32_t abLength;
  uint32_t abComputeLength;
  float nRec;
};
struct WelfordFinalizeConfig {
  bool isCorrection = false;
};
inline constexpr WelfordFinalizeConfig WFFINALIZE_DEFAULT_CFG = {false};
struct WelfordFinalizePara {
  uint32_t rnLength;
  uint32_t abLength;
  uint32_t headCount;
  uint32_t headCountLength;
  uint32_t tailCount;
  uint32_t tailCountLength;
  float abRec;
  float rRec;
  float rRecWithCorrection = 0.0f;
};

}  // namespace AscendC

namespace gn_twin {

// Computes mean' = mean + (x - mean) * nRec and square' = square + (x - mean) (x - mean'). Only the first
// abComputeLength elements of a row are computed. The others get the inputs (in place) or are not written.
template <class T, class U>
void RunWelfordUpdate(Loc loc, const LocalTensor<U>& mean, const LocalTensor<U>& square, const LocalTensor<U>& in_mean,
                      const LocalTensor<U>& in_square, const LocalTensor<T>& x,
                      const AscendC::WelfordUpdateParam& param, bool in_place) {
  static_assert(kOneOf<T, half, float> && kSame<U, float>, "WelfordUpdate takes half, float, and float");
  const Matrix matrix{param.rnLength, param.abLength, param.abComputeLength};
  const uint64_t bytes = matrix.Elements() * sizeof(U);
  if constexpr (kObserved) {
    EmitOperation("WelfordUpdate", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "WelfordUpdate", matrix, sizeof(T));
      operation.Local("inputMean", in_mean, bytes, Access::Read).Local("inputVariance", in_square, bytes, Access::Read);
      operation.Local("inputX", x, matrix.Elements() * sizeof(T), Access::Read);
      operation.Local("outputMean", mean, bytes, Access::Write).Local("outputVariance", square, bytes, Access::Write);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(U)), sizeof(U));
    });
  }
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    for (uint32_t column = 0; column < (in_place ? matrix.columns : matrix.live); ++column) {
      const uint64_t at = matrix.At(row, column);
      const float old_mean = in_mean.Data()[at];
      float new_mean = old_mean;
      float new_square = in_square.Data()[at];
      if (column < matrix.live) {
        // This code computes in float and rounds each step, because the kernel keeps these intermediate results.
        const float value = static_cast<float>(x.Data()[at]);
        const float off = value - old_mean;
        const float step = off * param.nRec;
        new_mean = old_mean + step;
        const float square = off * (value - new_mean);
        new_square += square;
      }
      mean.Data()[at] = new_mean;
      square.Data()[at] = new_square;
    }
  }
  ResetMaskRegister(ThisCore());
}

// Computes one mean and one variance from the means and sums of squares of the columns. The weight of a column is the
// number of its elements. `counts` gives it for each column. If `counts` is null, it is headCount for the first
// headCountLength columns and tailCount for the others, or rnLength for every column if tailCount is 0.
inline void RunWelfordFinalize(Loc loc, const LocalTensor<float>& mean, const LocalTensor<float>& variance,
                               const LocalTensor<float>& in_mean, const LocalTensor<float>& in_square,
                               const LocalTensor<int32_t>* counts, const AscendC::WelfordFinalizePara& para) {
  const Matrix matrix{1, para.abLength, para.abLength};
  if constexpr (kObserved) {
    EmitOperation("WelfordFinalize", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "WelfordFinalize", matrix, 4);
      if (para.headCountLength + para.tailCountLength != para.abLength ||
          (para.tailCount == 0 && para.tailCountLength != 0)) {
        operation.Stop("welford-lengths", {{"head", para.headCountLength},
                                           {"tail", para.tailCountLength},
                                           {"tail_count", para.tailCount},
                                           {"columns", para.abLength}});
      }
      operation.Local("inputMean", in_mean, 4ull * para.abLength, Access::Read);
      operation.Local("inputVariance", in_square, 4ull * para.abLength, Access::Read);
      if (counts != nullptr) operation.Local("counts", *counts, 4ull * para.abLength, Access::Read);
      operation.Local("outputMean", mean, 4, Access::Write).Local("outputVariance", variance, 4, Access::Write);
      return operation.Emit(para.abLength, RepeatsOf(para.abLength, 4), 4);
    });
  }
  const bool weighted = counts != nullptr || para.tailCount != 0;
  const auto weight = [&](uint32_t i) -> double {
    if (counts != nullptr) return counts->Data()[i];
    if (!weighted) return para.rnLength;
    return i < para.headCountLength ? para.headCount : para.tailCount;
  };
  const double share = Wide(para.rRec);
  double sum = 0.0;
  for (uint32_t i = 0; i < para.abLength; ++i) sum += (weighted ? weight(i) : 1.0) * Wide(in_mean.Data()[i]);
  const double all_mean = sum * (weighted ? share : Wide(para.abRec));
  double squares = 0.0;
  for (uint32_t i = 0; i < para.abLength; ++i) {
    const double off = Wide(in_mean.Data()[i]) - all_mean;
    squares += Wide(in_square.Data()[i]) + weight(i) * off * off;
  }
  const Rounder rounder(ThisCore());
  mean.Data()[0] = rounder.To<float>(all_mean);
  variance.Data()[0] = rounder.To<float>(squares * share);
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

#define GNT_WELFORD(SCRATCH)                                                                                        \
  template <class T, class U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG> \
  inline void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,                 \
                            const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,                   \
                            const LocalTensor<T>& inputX, SCRATCH const WelfordUpdateParam& para,                   \
                            gn_twin::Loc loc = gn_twin::Loc::here()) {                                              \
    gn_twin::RunWelfordUpdate(loc, outputMean, outputVariance, inputMean, inputVariance, inputX, para,              \
                              config.isInplace);                                                                    \
  }                                                                                                                 \
  template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>               \
  inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,       \
                              const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,         \
                              SCRATCH WelfordFinalizePara& para, gn_twin::Loc loc = gn_twin::Loc::here()) {         \
    static_assert(!config.isCorrection, "WelfordFinalize on Atlas A2 has no corrected variance");                   \
    gn_twin::RunWelfordFinalize(loc, outputMean, outputVariance, inputMean, inputVariance, nullptr, para);          \
  }                                                                                                                 \
  template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>               \
  inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,       \
                              const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,         \
                              const LocalTensor<int32_t>& counts, SCRATCH WelfordFinalizePara& para,                \
                              gn_twin::Loc loc = gn_twin::Loc::here()) {                                            \
    static_assert(!config.isCorrection, "WelfordFinalize on Atlas A2 has no corrected variance");                   \
    gn_twin::RunWelfordFinalize(loc, outputMean, outputVariance, inputMean, inputVariance, &counts, para);          \
  }
GNT_WELFORD()
GNT_WELFORD(GNT_WITH_SCRATCH)
#undef GNT_WELFORD

}  // namespace AscendC
