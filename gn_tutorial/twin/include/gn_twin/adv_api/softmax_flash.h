// SoftmaxFlash, SoftmaxFlashV2, SoftmaxFlashV3: the softmax of rows that arrive in pieces, updated with each piece.
//
// Source: docs/zh/api, 高阶API/激活函数/SoftMax接口. T: the data and exp(old max - new max); S: maximum, sum, mean.
#pragma once
#include "gn_twin/adv_api/softmax_rows.h"

namespace AscendC {

struct SoftMaxParams {
  uint32_t srcM = 0;
  uint32_t srcK = 0;
  uint32_t oriSrcM = 0;
  uint32_t oriSrcK = 0;
  uint32_t loopCnt = 0;
  uint32_t splitMeanCnt = 0;
  float alpha = 0.0f;
};

}  // namespace AscendC

namespace gn_twin {

// The tensors of one call, by their roles. `sum` and `max` may be the same tensors as in_sum and in_max.
template <class T, class S>
struct Flash {
  const LocalTensor<T>& dst;
  const LocalTensor<S>& sum;
  const LocalTensor<S>& max;
  const LocalTensor<T>& src;
  const LocalTensor<T>& exp_max;
  const LocalTensor<S>& in_sum;
  const LocalTensor<S>& in_max;
  const LocalTensor<S>* reduce_max = nullptr;  // the piece's own maximum, if requested
};

template <class T, class S>
void CheckFlash(const char* name, Loc loc, const Matrix& matrix, const Flash<T, S>& flash, bool update, bool spread) {
  static_assert(kOneOf<T, half, float> && kOneOf<S, half, float>, "this function on Atlas A2 takes half, float");
  if constexpr (kObserved) {
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, name, matrix, sizeof(T));
      operation.Local("src", flash.src, matrix.Elements() * sizeof(T), Access::Read);
      if (update) {
        PerRow<S>(flash.in_sum, spread).Check(operation, "inSumTensor", matrix.rows, Access::Read);
        PerRow<S>(flash.in_max, spread).Check(operation, "inMaxTensor", matrix.rows, Access::Read);
        PerRow<T>(flash.exp_max, spread).Check(operation, "expMaxTensor", matrix.rows, Access::Write);
        if (flash.reduce_max != nullptr) {
          PerRow<S>(*flash.reduce_max, spread).Check(operation, "outReduceMax", matrix.rows, Access::Write);
        }
      }
      operation.Local("dst", flash.dst, matrix.Elements() * sizeof(T), Access::Write);
      PerRow<S>(flash.sum, spread).Check(operation, "sumTensor", matrix.rows, Access::Write);
      PerRow<S>(flash.max, spread).Check(operation, "maxTensor", matrix.rows, Access::Write);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
}

// Computes one piece. update: there were earlier pieces, and exp_max gets the factor that corrects their results.
// divide (SoftmaxFlash, not SoftmaxFlashV2): dst is divided by the sum so far, and the factor is also multiplied by
// in_sum / (sum so far).
template <class T, class S>
void RunFlash(const char* name, Loc loc, const Matrix& matrix, const Flash<T, S>& flash, bool update, bool divide,
              bool spread) {
  CheckFlash(name, loc, matrix, flash, update, spread);
  const Rounder rounder(ThisCore());
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const double here = RowMax(matrix, flash.src.Data(), row, kMinusInfinity);
    const double old_max = update ? PerRow<S>(flash.in_max, spread).Read(row) : here;
    const double max = here > old_max || here != here ? here : old_max;
    double sum = RowExp(matrix, flash.src.Data(), row, max, [](uint64_t, double) {});
    double factor = 1.0;
    if (update) {
      factor = elementary::Exp(old_max - max);
      const double carried = factor * PerRow<S>(flash.in_sum, spread).Read(row);
      sum += carried;
      if (divide) factor = carried / sum;
    }
    const double divisor = divide ? sum : 1.0;
    RowExp(matrix, flash.src.Data(), row, max,
           [&](uint64_t at, double power) { flash.dst.Data()[at] = rounder.To<T>(power / divisor); });
    PerRow<S>(flash.sum, spread).Write(row, rounder.To<S>(sum));
    PerRow<S>(flash.max, spread).Write(row, rounder.To<S>(max));
    if (update) {
      PerRow<T>(flash.exp_max, spread).Write(row, rounder.To<T>(factor));
      if (flash.reduce_max != nullptr) PerRow<S>(*flash.reduce_max, spread).Write(row, rounder.To<S>(here));
    }
  }
  ResetMaskRegister(ThisCore());
}

// Computes eight means of a row as SoftmaxFlashV3 does. The first 512 elements give 64 sums, each of eight neighbours.
// The other elements are added to these sums in strips of 64. Mean i uses sums 8 i to 8 i + 7, so it is the mean of one
// eighth of the row only if there are 512 columns.
template <class T>
void PartMeans(const T* row, uint32_t columns, double (&mean)[8]) {
  double strip[64];
  for (uint32_t i = 0; i < 64; ++i) {
    strip[i] = 0.0;
    for (uint32_t j = 0; j < 8; ++j) strip[i] += Wide(row[8 * i + j]);
  }
  for (uint32_t at = 512; at < columns; ++at) strip[at % 64] += Wide(row[at]);
  for (uint32_t part = 0; part < 8; ++part) {
    mean[part] = 0.0;
    for (uint32_t j = 0; j < 8; ++j) mean[part] += strip[8 * part + j];
    mean[part] /= columns / 8;
  }
}

template <class T, class S>
void RunFlashV3(Loc loc, const Matrix& matrix, const Flash<T, S>& flash, const LocalTensor<S>& mean,
                const LocalTensor<S>& in_mean, const AscendC::SoftMaxParams& params, bool update) {
  const PerRow<S> means(mean, true);
  const PerRow<S> in_means(in_mean, true);
  if constexpr (kObserved) {
    EmitOperation("SoftmaxFlashV3", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      if (matrix.columns < 512 || matrix.columns % 64 != 0 || matrix.rows % 8 != 0 || params.splitMeanCnt != 8) {
        operation.Stop("softmax-v3-shape",
                       {{"rows", matrix.rows}, {"columns", matrix.columns}, {"parts", params.splitMeanCnt}});
      }
      if (update) in_means.Check(operation, "inMeanTensor", matrix.rows, Access::Read);
      means.Check(operation, "meanTensor", matrix.rows, Access::Write);
      return operation.Emit(matrix.rows, RepeatsOf(matrix.rows, kBlockBytes), sizeof(S));
    });
  }
  CheckFlash("SoftmaxFlashV3", loc, matrix, flash, update, true);
  const Rounder rounder(ThisCore());
  const double scale = Wide(params.alpha) / (1.0 - Wide(params.alpha));
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    const T* src = flash.src.Data() + matrix.At(row, 0);
    double part[8];
    PartMeans(src, matrix.columns, part);
    double here_mean = 0.0;
    for (double one : part) here_mean += one / 8.0;
    const uint32_t width = matrix.columns / 8;
    const auto shifted = [&](uint32_t column) {
      return Wide(src[column]) - (here_mean - part[column / width]) * scale;
    };
    double here_max = kMinusInfinity;
    for (uint32_t column = 0; column < matrix.columns; ++column) {
      const double value = shifted(column);
      if (value > here_max || value != value) here_max = value;
    }
    const double old_mean = update ? in_means.Read(row) : here_mean;
    const double all_mean = update ? (here_mean + old_mean * (params.loopCnt - 1.0)) / params.loopCnt : here_mean;
    const double shift = (here_mean - all_mean) * scale;
    const double old_shift = (old_mean - all_mean) * scale;
    double max = shift + here_max;
    double factor = 1.0;
    double carried = 0.0;
    if (update) {
      const double old_max = PerRow<S>(flash.in_max, true).Read(row);
      if (old_shift + old_max > max) max = old_shift + old_max;
      factor = elementary::Exp(old_max - max + old_shift);
      carried = factor * PerRow<S>(flash.in_sum, true).Read(row);
    }
    double sum = 0.0;
    T* dst = flash.dst.Data() + matrix.At(row, 0);
    for (uint32_t column = 0; column < matrix.columns; ++column) {
      const double power = elementary::Exp(shifted(column) - (max - shift));
      sum += power;
      dst[column] = rounder.To<T>(power);
    }
    PerRow<S>(flash.sum, true).Write(row, rounder.To<S>(sum + carried));
    PerRow<S>(flash.max, true).Write(row, rounder.To<S>(max));
    means.Write(row, rounder.To<S>(all_mean));
    if (update) PerRow<T>(flash.exp_max, true).Write(row, rounder.To<T>(factor));
  }
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

#define GNT_SOFTMAX_FLASH(SCRATCH)                                                                                     \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false, class S>                                   \
  inline void SoftmaxFlash(const LocalTensor<T>& dst, const LocalTensor<S>& sum, const LocalTensor<S>& max,            \
                           const LocalTensor<T>& src, const LocalTensor<T>& expMax, const LocalTensor<S>& inSum,       \
                           const LocalTensor<S>& inMax, SCRATCH const SoftMaxTiling& tiling, bool isUpdate = false,    \
                           const SoftMaxShapeInfo& shape = {}, gn_twin::Loc loc = gn_twin::Loc::here()) {              \
    gn_twin::RunFlash("SoftmaxFlash", loc, gn_twin::SoftMaxMatrix(src, tiling, shape, false),                          \
                      gn_twin::Flash<T, S>{dst, sum, max, src, expMax, inSum, inMax}, isUpdate, true, true);           \
  }                                                                                                                    \
  template <class T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,                     \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>                   \
  inline void SoftmaxFlashV2(const LocalTensor<T>& dst, const LocalTensor<S>& expSum, const LocalTensor<S>& max,       \
                             const LocalTensor<T>& src, const LocalTensor<T>& expMax, const LocalTensor<S>& inExpSum,  \
                             const LocalTensor<S>& inMax, SCRATCH const SoftMaxTiling& tiling,                         \
                             const SoftMaxShapeInfo& shape = {}, gn_twin::Loc loc = gn_twin::Loc::here()) {            \
    gn_twin::RunFlash("SoftmaxFlashV2", loc, gn_twin::SoftMaxMatrix(src, tiling, shape, isDataFormatNZ),               \
                      gn_twin::Flash<T, S>{dst, expSum, max, src, expMax, inExpSum, inMax}, isUpdate, false,           \
                      config.mode == SoftmaxMode::SOFTMAX_NORMAL);                                                     \
  }                                                                                                                    \
  /* With isUpdate this form stores the piece's own maximum too. In SOFTMAX_NORMAL it does nothing, as documented. */  \
  template <class T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,                     \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                            \
  inline void SoftmaxFlashV2(const LocalTensor<T>& dst, const LocalTensor<T>& outReduceMax,                            \
                             const LocalTensor<T>& outExpSum, const LocalTensor<T>& outMax, const LocalTensor<T>& src, \
                             const LocalTensor<T>& outExpMax, const LocalTensor<T>& inExpSum,                          \
                             const LocalTensor<T>& inMax, SCRATCH const SoftMaxTiling& tiling,                         \
                             const SoftMaxShapeInfo& shape = {}, gn_twin::Loc loc = gn_twin::Loc::here()) {            \
    if (config.mode == SoftmaxMode::SOFTMAX_NORMAL) return;                                                            \
    gn_twin::RunFlash("SoftmaxFlashV2", loc, gn_twin::SoftMaxMatrix(src, tiling, shape, isDataFormatNZ),               \
                      gn_twin::Flash<T, T>{dst, outExpSum, outMax, src, outExpMax, inExpSum, inMax, &outReduceMax},    \
                      isUpdate, false, false);                                                                         \
  }                                                                                                                    \
  template <class T, class U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,            \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                            \
  inline void SoftmaxFlashV3(const LocalTensor<T>& dst, const LocalTensor<U>& mean, const LocalTensor<U>& expSum,      \
                             const LocalTensor<U>& max, const LocalTensor<T>& src, const LocalTensor<T>& expMax,       \
                             const LocalTensor<U>& inMean, const LocalTensor<U>& inExpSum,                             \
                             const LocalTensor<U>& inMax, SCRATCH const SoftMaxTiling&, const SoftMaxParams& params,   \
                             gn_twin::Loc loc = gn_twin::Loc::here()) {                                                \
    static_assert(gn_twin::kSame<T, half> && gn_twin::kSame<U, float>, "SoftmaxFlashV3 takes half, and float");        \
    gn_twin::RunFlashV3(loc, gn_twin::Matrix{params.srcM, params.srcK, params.srcK},                                   \
                        gn_twin::Flash<T, U>{dst, expSum, max, src, expMax, inExpSum, inMax}, mean, inMean, params,    \
                        isUpdate);                                                                                     \
  }
GNT_SOFTMAX_FLASH()
GNT_SOFTMAX_FLASH(GNT_WITH_SCRATCH)
#undef GNT_SOFTMAX_FLASH

}  // namespace AscendC
