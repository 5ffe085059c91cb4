// Shapes and sizes of scratch memory, for the host part of samples (the tiling structs are in register/tilingdata_base.h).
//
// Source: docs/zh/api, the host functions beside each operation of the high-level API.
#pragma once
#include <stdint.h>

#include <initializer_list>
#include <tuple>
#include <vector>

namespace AscendC {

// The lengths of a tensor's axes, outermost first.
class TensorShape {
 public:
  TensorShape() = default;
  TensorShape(std::initializer_list<int64_t> lengths) : lengths_(lengths) {}
  explicit TensorShape(const std::vector<int64_t>& lengths) : lengths_(lengths) {}

  size_t GetDimNum() const { return lengths_.size(); }
  int64_t GetDim(size_t axis) const { return axis < lengths_.size() ? lengths_[axis] : 0; }
  void SetDim(size_t axis, int64_t length) { lengths_.at(axis) = length; }
  void AppendDim(int64_t length) { lengths_.push_back(length); }
  int64_t GetShapeSize() const {
    int64_t count = 1;
    for (int64_t length : lengths_) count *= length;
    return count;
  }

 private:
  std::vector<int64_t> lengths_;
};

// How much scratch memory an operation of the high-level API asks for: Get...MaxMinTmpSize(shape, ..., max, min). The twin's
// operations use none; what is answered lies between the documented bounds' usual values, one and four times the tensor's
// bytes as float, so that samples reserve it as they would for the device.
inline uint32_t GntScratch(const TensorShape& shape, uint32_t times) {
  const int64_t bytes = (shape.GetShapeSize() * 4 + 255) / 256 * 256;
  const int64_t most = 64 * 1024;
  return static_cast<uint32_t>(times * (bytes < most / 4 ? bytes : most / 4));
}
// Sum takes the length of a row instead of a shape.
inline uint32_t GntScratch(uint32_t count, uint32_t times) { return GntScratch(TensorShape{count}, times); }
#define GNT_SCRATCH(NAME)                                   \
  template <class S, class... A>                            \
    requires(sizeof...(A) >= 2)                             \
  void NAME(const S& shape, A&&... rest) {                  \
    auto all = std::forward_as_tuple(rest...);              \
    std::get<sizeof...(A) - 2>(all) = GntScratch(shape, 4); \
    std::get<sizeof...(A) - 1>(all) = GntScratch(shape, 1); \
  }
#define GNT_LEAST_SCRATCH(NAME)                     \
  template <class... A>                             \
  uint32_t NAME(const TensorShape& shape, A&&...) { \
    return GntScratch(shape, 1);                    \
  }
#define GNT_MOST_SCRATCH(NAME)                      \
  template <class... A>                             \
  uint32_t NAME(const TensorShape& shape, A&&...) { \
    return GntScratch(shape, 4);                    \
  }
GNT_SCRATCH(GetAcosMaxMinTmpSize)
GNT_SCRATCH(GetAcoshMaxMinTmpSize)
GNT_SCRATCH(GetAscendAntiQuantMaxMinTmpSize)
GNT_SCRATCH(GetAscendDequantMaxMinTmpSize)
GNT_SCRATCH(GetAscendQuantMaxMinTmpSize)
GNT_SCRATCH(GetAsinMaxMinTmpSize)
GNT_SCRATCH(GetAsinhMaxMinTmpSize)
GNT_SCRATCH(GetAtanMaxMinTmpSize)
GNT_SCRATCH(GetAtanhMaxMinTmpSize)
GNT_SCRATCH(GetAxpyMaxMinTmpSize)
GNT_SCRATCH(GetCeilMaxMinTmpSize)
GNT_SCRATCH(GetClampMaxMinTmpSize)
GNT_SCRATCH(GetCosMaxMinTmpSize)
GNT_SCRATCH(GetCoshMaxMinTmpSize)
GNT_SCRATCH(GetCumSumMaxMinTmpSize)
GNT_SCRATCH(GetDeepNormMaxMinTmpSize)
GNT_SCRATCH(GetDropOutMaxMinTmpSize)
GNT_SCRATCH(GetErfMaxMinTmpSize)
GNT_SCRATCH(GetErfcMaxMinTmpSize)
GNT_SCRATCH(GetExpMaxMinTmpSize)
GNT_SCRATCH(GetFloorMaxMinTmpSize)
GNT_SCRATCH(GetFmodMaxMinTmpSize)
GNT_SCRATCH(GetFracMaxMinTmpSize)
GNT_SCRATCH(GetGeGLUMaxMinTmpSize)
GNT_SCRATCH(GetLayerNormGradBetaMaxMinTmpSize)
GNT_SCRATCH(GetLayerNormGradMaxMinTmpSize)
GNT_SCRATCH(GetLayerNormMaxMinTmpSize)
GNT_SCRATCH(GetLogMaxMinTmpSize)
GNT_SCRATCH(GetMeanMaxMinTmpSize)
GNT_SCRATCH(GetNormalizeMaxMinTmpSize)
GNT_SCRATCH(GetPadMaxMinTmpSize)
GNT_SCRATCH(GetPowerMaxMinTmpSize)
GNT_SCRATCH(GetReGluMaxMinTmpSize)
GNT_SCRATCH(GetReduceMaxMaxMinTmpSize)
GNT_SCRATCH(GetReduceMeanMaxMinTmpSize)
GNT_SCRATCH(GetReduceMinMaxMinTmpSize)
GNT_SCRATCH(GetReduceProdMaxMinTmpSize)
GNT_SCRATCH(GetReduceSumMaxMinTmpSize)
GNT_SCRATCH(GetRoundMaxMinTmpSize)
GNT_SCRATCH(GetSelectMaxMinTmpSize)
GNT_SCRATCH(GetSelectWithBytesMaskMaxMinTmpSize)
GNT_SCRATCH(GetSigmoidMaxMinTmpSize)
GNT_SCRATCH(GetSignMaxMinTmpSize)
GNT_SCRATCH(GetSiluTmpSize)
GNT_SCRATCH(GetSinMaxMinTmpSize)
GNT_SCRATCH(GetSinhMaxMinTmpSize)
GNT_SCRATCH(GetSortMaxMinTmpSize)
GNT_SCRATCH(GetSumMaxMinTmpSize)
GNT_SCRATCH(GetSwishTmpSize)
GNT_SCRATCH(GetTanMaxMinTmpSize)
GNT_SCRATCH(GetTanhMaxMinTmpSize)
GNT_SCRATCH(GetTransposeMaxMinTmpSize)
GNT_SCRATCH(GetTruncMaxMinTmpSize)
GNT_SCRATCH(GetWelfordFinalizeMaxMinTmpSize)
GNT_SCRATCH(GetWelfordUpdateMaxMinTmpSize)
GNT_SCRATCH(GetXorMaxMinTmpSize)
GNT_LEAST_SCRATCH(GetAscendAntiQuantMinTmpSize)
GNT_LEAST_SCRATCH(GetDropOutMinTmpSize)
GNT_LEAST_SCRATCH(GetGeluMinTmpSize)
GNT_LEAST_SCRATCH(GetLogSoftMaxMinTmpSize)
GNT_LEAST_SCRATCH(GetSelectMinTmpSize)
GNT_LEAST_SCRATCH(GetSelectWithBytesMaskMinTmpSize)
GNT_LEAST_SCRATCH(GetSoftMaxFlashMinTmpSize)
GNT_LEAST_SCRATCH(GetSoftMaxFlashV2MinTmpSize)
GNT_LEAST_SCRATCH(GetSoftMaxGradMinTmpSize)
GNT_LEAST_SCRATCH(GetSoftMaxMinTmpSize)
GNT_MOST_SCRATCH(GetAscendAntiQuantMaxTmpSize)
GNT_MOST_SCRATCH(GetDropOutMaxTmpSize)
GNT_MOST_SCRATCH(GetGeluMaxTmpSize)
GNT_MOST_SCRATCH(GetLogSoftMaxMaxTmpSize)
GNT_MOST_SCRATCH(GetSelectMaxTmpSize)
GNT_MOST_SCRATCH(GetSelectWithBytesMaskMaxTmpSize)
GNT_MOST_SCRATCH(GetSoftMaxFlashMaxTmpSize)
GNT_MOST_SCRATCH(GetSoftMaxFlashV2MaxTmpSize)
GNT_MOST_SCRATCH(GetSoftMaxGradMaxTmpSize)
GNT_MOST_SCRATCH(GetSoftMaxMaxTmpSize)
#undef GNT_SCRATCH
#undef GNT_LEAST_SCRATCH
#undef GNT_MOST_SCRATCH

}  // namespace AscendC

namespace ge {
using Shape = AscendC::TensorShape;
// As far as the types of kernels go, with the numbers of the graph engine's documentation.
enum DataType {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_BF16 = 27,
  DT_INT4 = 29
};
}  // namespace ge
