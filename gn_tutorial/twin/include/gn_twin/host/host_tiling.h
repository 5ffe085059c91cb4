// Shapes and sizes of scratch memory, for the host part of samples. (The tiling structs are in
// register/tilingdata_base.h.)
//
// Source: docs/zh/api, the host functions beside each operation of the high-level API.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <vector>

#include "gn_twin/host/graph_types.h"

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

// Returns the bytes of scratch memory that Get...MaxMinTmpSize(shapes, ..., max, min) gives for an operation of the
// high-level API: `times` (4 for max, 1 for min) times the bytes of the largest tensor as float, a multiple of 256
// and at most 16 KB. The twin's operations use none. The answers lie within the usual range of the documented bounds,
// so that projects reserve memory as for the device.
inline uint32_t GntScratch(int64_t elements, uint32_t times) {
  const int64_t bytes = (elements * 4 + 255) / 256 * 256;
  const int64_t most = 64 * 1024;
  return static_cast<uint32_t>(times * (bytes < most / 4 ? bytes : most / 4));
}
inline uint32_t GntScratch(const TensorShape& shape, uint32_t times) { return GntScratch(shape.GetShapeSize(), times); }
inline int64_t GntElements(const TensorShape& shape) { return shape.GetShapeSize(); }
template <class T>
int64_t GntElements(const T&) {
  return 0;
}
template <class First, class... A>
int64_t GntMostElements(const First& first, const A&... rest) {
  int64_t most = GntElements(first);
  if constexpr (std::is_integral_v<First>) most = first;  // Sum takes the length of a row instead of a shape
  ((most = GntElements(rest) > most ? GntElements(rest) : most), ...);
  return most;
}
#define GNT_SCRATCH(NAME)                                      \
  template <class S, class... A>                               \
    requires(sizeof...(A) >= 2)                                \
  bool NAME(const S& shape, A&&... rest) {                     \
    const int64_t elements = GntMostElements(shape, rest...);  \
    auto all = std::forward_as_tuple(rest...);                 \
    std::get<sizeof...(A) - 2>(all) = GntScratch(elements, 4); \
    std::get<sizeof...(A) - 1>(all) = GntScratch(elements, 1); \
    return true;                                               \
  }
// Defines a function that gives the scratch memory by a factor: Get...TmpBufferFactorSize(..., maxLiveNodeCount,
// extraBuffer). An operation on n bytes takes maxLiveNodeCount * n + extraBuffer bytes.
#define GNT_FACTOR(NAME)                        \
  template <class... A>                         \
    requires(sizeof...(A) >= 2)                 \
  void NAME(A&&... all) {                       \
    auto given = std::forward_as_tuple(all...); \
    std::get<sizeof...(A) - 2>(given) = 4;      \
    std::get<sizeof...(A) - 1>(given) = 256;    \
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
GNT_SCRATCH(GetAntiQuantizeMaxMinTmpSize)
GNT_SCRATCH(GetAscendAntiQuantMaxMinTmpSize)
GNT_SCRATCH(GetAscendDequantMaxMinTmpSize)
GNT_SCRATCH(GetAscendQuantMaxMinTmpSize)
GNT_SCRATCH(GetAsinMaxMinTmpSize)
GNT_SCRATCH(GetAsinhMaxMinTmpSize)
GNT_SCRATCH(GetAtanMaxMinTmpSize)
GNT_SCRATCH(GetAtanhMaxMinTmpSize)
GNT_SCRATCH(GetAxpyMaxMinTmpSize)
GNT_SCRATCH(GetBitwiseAndMaxMinTmpSize)
GNT_SCRATCH(GetBitwiseNotMaxMinTmpSize)
GNT_SCRATCH(GetBitwiseOrMaxMinTmpSize)
GNT_SCRATCH(GetBitwiseXorMaxMinTmpSize)
GNT_SCRATCH(GetBroadCastMaxMinTmpSize)
GNT_SCRATCH(GetCeilMaxMinTmpSize)
GNT_SCRATCH(GetClampMaxMinTmpSize)
GNT_SCRATCH(GetConfusionTransposeMaxMinTmpSize)
GNT_SCRATCH(GetCosMaxMinTmpSize)
GNT_SCRATCH(GetCoshMaxMinTmpSize)
GNT_SCRATCH(GetCumSumMaxMinTmpSize)
GNT_SCRATCH(GetDeepNormMaxMinTmpSize)
GNT_SCRATCH(GetDequantizeMaxMinTmpSize)
GNT_SCRATCH(GetDigammaMaxMinTmpSize)
GNT_SCRATCH(GetDropOutMaxMinTmpSize)
GNT_SCRATCH(GetErfMaxMinTmpSize)
GNT_SCRATCH(GetErfcMaxMinTmpSize)
GNT_SCRATCH(GetExpMaxMinTmpSize)
GNT_SCRATCH(GetFloorMaxMinTmpSize)
GNT_SCRATCH(GetFmaMaxMinTmpSize)
GNT_SCRATCH(GetFmodMaxMinTmpSize)
GNT_SCRATCH(GetFracMaxMinTmpSize)
GNT_SCRATCH(GetGeGLUMaxMinTmpSize)
GNT_SCRATCH(GetGeluMaxMinTmpSize)
GNT_SCRATCH(GetHypotMaxMinTmpSize)
GNT_SCRATCH(GetIsInfMaxMinTmpSize)
GNT_SCRATCH(GetIsNanMaxMinTmpSize)
GNT_SCRATCH(GetLayerNormGradBetaMaxMinTmpSize)
GNT_SCRATCH(GetLayerNormGradMaxMinTmpSize)
GNT_SCRATCH(GetLayerNormMaxMinTmpSize)
GNT_SCRATCH(GetLgammaMaxMinTmpSize)
GNT_SCRATCH(GetLogMaxMinTmpSize)
GNT_SCRATCH(GetLogicalAndMaxMinTmpSize)
GNT_SCRATCH(GetLogicalAndsMaxMinTmpSize)
GNT_SCRATCH(GetLogicalNotMaxMinTmpSize)
GNT_SCRATCH(GetLogicalOrMaxMinTmpSize)
GNT_SCRATCH(GetLogicalOrsMaxMinTmpSize)
GNT_SCRATCH(GetLogicalXorMaxMinTmpSize)
GNT_SCRATCH(GetMeanMaxMinTmpSize)
GNT_SCRATCH(GetNormalizeMaxMinTmpSize)
GNT_SCRATCH(GetPadMaxMinTmpSize)
GNT_SCRATCH(GetPowerMaxMinTmpSize)
GNT_SCRATCH(GetQuantizeMaxMinTmpSize)
GNT_SCRATCH(GetReGluMaxMinTmpSize)
GNT_SCRATCH(GetReduceAllMaxMinTmpSize)
GNT_SCRATCH(GetReduceAnyMaxMinTmpSize)
GNT_SCRATCH(GetReduceMaxMaxMinTmpSize)
GNT_SCRATCH(GetReduceMeanMaxMinTmpSize)
GNT_SCRATCH(GetReduceMinMaxMinTmpSize)
GNT_SCRATCH(GetReduceProdMaxMinTmpSize)
GNT_SCRATCH(GetReduceSumMaxMinTmpSize)
GNT_SCRATCH(GetReduceXorSumMaxMinTmpSize)
GNT_SCRATCH(GetRintMaxMinTmpSize)
GNT_SCRATCH(GetRoundMaxMinTmpSize)
GNT_SCRATCH(GetSelectMaxMinTmpSize)
GNT_SCRATCH(GetSelectWithBytesMaskMaxMinTmpSize)
GNT_SCRATCH(GetSigmoidMaxMinTmpSize)
GNT_SCRATCH(GetSignMaxMinTmpSize)
GNT_SCRATCH(GetSiluTmpSize)
GNT_SCRATCH(GetSinCosMaxMinTmpSize)
GNT_SCRATCH(GetSinMaxMinTmpSize)
GNT_SCRATCH(GetSinhMaxMinTmpSize)
GNT_SCRATCH(GetSortMaxMinTmpSize)
GNT_SCRATCH(GetSumMaxMinTmpSize)
GNT_SCRATCH(GetSwishTmpSize)
GNT_SCRATCH(GetTanMaxMinTmpSize)
GNT_SCRATCH(GetTanhMaxMinTmpSize)
GNT_SCRATCH(GetTransDataMaxMinTmpSize)
GNT_SCRATCH(GetTransposeMaxMinTmpSize)
GNT_SCRATCH(GetTruncMaxMinTmpSize)
GNT_SCRATCH(GetWelfordFinalizeMaxMinTmpSize)
GNT_SCRATCH(GetWelfordUpdateMaxMinTmpSize)
GNT_SCRATCH(GetWhereMaxMinTmpSize)
GNT_SCRATCH(GetXorMaxMinTmpSize)
GNT_FACTOR(GetAcosTmpBufferFactorSize)
GNT_FACTOR(GetAcoshTmpBufferFactorSize)
GNT_FACTOR(GetAntiQuantizeTmpBufferFactorSize)
GNT_FACTOR(GetAscendAntiQuantTmpBufferFactorSize)
GNT_FACTOR(GetAscendDequantTmpBufferFactorSize)
GNT_FACTOR(GetAscendQuantTmpBufferFactorSize)
GNT_FACTOR(GetAsinTmpBufferFactorSize)
GNT_FACTOR(GetAsinhTmpBufferFactorSize)
GNT_FACTOR(GetAtanTmpBufferFactorSize)
GNT_FACTOR(GetAtanhTmpBufferFactorSize)
GNT_FACTOR(GetAxpyTmpBufferFactorSize)
GNT_FACTOR(GetBitwiseAndTmpBufferFactorSize)
GNT_FACTOR(GetBitwiseNotTmpBufferFactorSize)
GNT_FACTOR(GetBitwiseOrTmpBufferFactorSize)
GNT_FACTOR(GetBitwiseXorTmpBufferFactorSize)
GNT_FACTOR(GetCeilTmpBufferFactorSize)
GNT_FACTOR(GetClampTmpBufferFactorSize)
GNT_FACTOR(GetCosTmpBufferFactorSize)
GNT_FACTOR(GetCoshTmpBufferFactorSize)
GNT_FACTOR(GetDequantizeTmpBufferFactorSize)
GNT_FACTOR(GetDigammaTmpBufferFactorSize)
GNT_FACTOR(GetErfTmpBufferFactorSize)
GNT_FACTOR(GetErfcTmpBufferFactorSize)
GNT_FACTOR(GetExpTmpBufferFactorSize)
GNT_FACTOR(GetFloorTmpBufferFactorSize)
GNT_FACTOR(GetFmaTmpBufferFactorSize)
GNT_FACTOR(GetFmodTmpBufferFactorSize)
GNT_FACTOR(GetFracTmpBufferFactorSize)
GNT_FACTOR(GetGeGLUTmpBufferFactorSize)
GNT_FACTOR(GetHypotTmpBufferFactorSize)
GNT_FACTOR(GetIsInfTmpBufferFactorSize)
GNT_FACTOR(GetIsNanTmpBufferFactorSize)
GNT_FACTOR(GetLgammaTmpBufferFactorSize)
GNT_FACTOR(GetLog10TmpBufferFactorSize)
GNT_FACTOR(GetLog2TmpBufferFactorSize)
GNT_FACTOR(GetLogTmpBufferFactorSize)
GNT_FACTOR(GetLogicalAndTmpBufferFactorSize)
GNT_FACTOR(GetLogicalAndsTmpBufferFactorSize)
GNT_FACTOR(GetLogicalNotTmpBufferFactorSize)
GNT_FACTOR(GetLogicalOrTmpBufferFactorSize)
GNT_FACTOR(GetLogicalOrsTmpBufferFactorSize)
GNT_FACTOR(GetLogicalXorTmpBufferFactorSize)
GNT_FACTOR(GetMeanTmpBufferFactorSize)
GNT_FACTOR(GetPowerTmpBufferFactorSize)
GNT_FACTOR(GetQuantizeTmpBufferFactorSize)
GNT_FACTOR(GetRintTmpBufferFactorSize)
GNT_FACTOR(GetRoundTmpBufferFactorSize)
GNT_FACTOR(GetSignTmpBufferFactorSize)
GNT_FACTOR(GetSinCosTmpBufferFactorSize)
GNT_FACTOR(GetSinTmpBufferFactorSize)
GNT_FACTOR(GetSinhTmpBufferFactorSize)
GNT_FACTOR(GetSwiGLUTmpBufferFactorSize)
GNT_FACTOR(GetTanTmpBufferFactorSize)
GNT_FACTOR(GetTanhTmpBufferFactorSize)
GNT_FACTOR(GetTruncTmpBufferFactorSize)
GNT_FACTOR(GetWhereTmpBufferFactorSize)
GNT_FACTOR(GetXorTmpBufferFactorSize)
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
// Arange needs space only for its first block.
inline void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) { maxValue = minValue = 32; }
inline void GetArithProgressionMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) { maxValue = minValue = 32; }
#undef GNT_SCRATCH
#undef GNT_FACTOR
#undef GNT_LEAST_SCRATCH
#undef GNT_MOST_SCRATCH

}  // namespace AscendC

namespace ge {
using Shape = AscendC::TensorShape;
}  // namespace ge
