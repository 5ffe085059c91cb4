// Shared parts of the SoftMax family: the shape of a call, and results of a row that fill a 32-byte block.
//
// Source: docs/zh/api, 高阶API/激活函数/SoftMax接口. The call may give the shape; else the tensor's ShapeInfo gives it, else
// the tiling. Reductions cover the original columns; the other steps cover all columns.
#pragma once
#include "gn_twin/base/elementary_math.h"
#include "gn_twin/base/adv_tiling.h"
#include "gn_twin/adv_api/matrix.h"

namespace AscendC {

struct SoftMaxShapeInfo {
  uint32_t srcM = 0;
  uint32_t srcK = 0;
  uint32_t oriSrcM = 0;
  uint32_t oriSrcK = 0;
};
enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
  bool isCheckTiling = true;
  uint32_t oriSrcM = 0;
  uint32_t oriSrcK = 0;
  SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

}  // namespace AscendC

namespace gn_twin {

using AscendC::SoftMaxShapeInfo;

// Returns the shape of a call. nz, a template argument of the call: whether all its tensors are in fractal order.
template <class T, class Tiling>
Matrix SoftMaxMatrix(const LocalTensor<T>& src, const Tiling& tiling, const SoftMaxShapeInfo& given, bool nz) {
  if (given.srcM != 0 && given.srcK != 0) {
    return {given.srcM, given.srcK, given.oriSrcK != 0 ? given.oriSrcK : given.srcK, nz};
  }
  const AscendC::ShapeInfo info = src.GetShapeInfo();
  if (info.shapeDim == 0) return {tiling.srcM, tiling.srcK, tiling.srcK, nz};
  const uint32_t columns = info.shape[info.shapeDim - 1];
  const uint32_t original = info.originalShapeDim == 0 ? columns : info.originalShape[info.originalShapeDim - 1];
  return {columns == 0 ? 0 : static_cast<uint32_t>(GetShapeSize(info)) / columns, columns, original, nz};
}

// A tensor with one number for each row: a whole block of equal values, or (SOFTMAX_OUTPUT_WITHOUT_BRC) one element.
template <class T>
class PerRow {
 public:
  PerRow(const LocalTensor<T>& tensor, bool spread)
      : tensor_(tensor), step_(spread ? kBlockBytes / static_cast<uint32_t>(sizeof(T)) : 1) {}

  double Read(uint32_t row) const { return Wide(tensor_.Data()[uint64_t{row} * step_]); }
  void Write(uint32_t row, T value) const {
    for (uint32_t i = 0; i < step_; ++i) tensor_.Data()[uint64_t{row} * step_ + i] = value;
  }
  void Check(Operation& operation, const char* role, uint32_t rows, Access access) const {
    operation.Local(role, tensor_, uint64_t{rows} * step_ * sizeof(T), access);
  }

 private:
  const LocalTensor<T>& tensor_;
  uint32_t step_;
};

// Returns the largest of the row's first `live` elements, but at least `floor`; NaN if one of them is NaN.
template <class T>
double RowMax(const Matrix& matrix, const T* at, uint32_t row, double floor) {
  double max = floor;
  for (uint32_t column = 0; column < matrix.live; ++column) {
    const double value = Wide(at[matrix.At(row, column)]);
    if (value > max || value != value) max = value;
    if (max != max) break;
  }
  return max;
}

// Calls store(element offset, e^(src - max)) for all columns, and returns the sum over the first `live` columns.
// `store` may overwrite src.
template <class T, class Store>
double RowExp(const Matrix& matrix, const T* src, uint32_t row, double max, Store store) {
  double sum = 0.0;
  for (uint32_t column = 0; column < matrix.columns; ++column) {
    const uint64_t at = matrix.At(row, column);
    const double power = elementary::Exp(Wide(src[at]) - max);
    if (column < matrix.live) sum += power;
    store(at, power);
  }
  return sum;
}

inline constexpr double kMinusInfinity = -__builtin_inf();

}  // namespace gn_twin
