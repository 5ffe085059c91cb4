// The host functions of the high-level API that fill tiling structs (base/adv_tiling.h) from the shapes that the caller
// gives.
//
// Source: docs/zh/api, the Tiling page beside each function. The fields for the division of the device's scratch memory
// stay zero, because the twin's functions use no scratch memory.
#pragma once
#include "gn_twin/base/adv_tiling.h"
#include "gn_twin/host/host_tiling.h"

namespace gn_twin::host {

// Columns returns the last length of a shape; RowsOf returns the product of the other lengths. Both return 0 for a
// shape without axes, or whose last length is 0.
inline uint32_t Columns(const AscendC::TensorShape& shape) {
  return shape.GetDimNum() == 0 ? 0 : static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
}
inline uint32_t RowsOf(const AscendC::TensorShape& shape) {
  const uint32_t columns = Columns(shape);
  return columns == 0 ? 0 : static_cast<uint32_t>(shape.GetShapeSize() / columns);
}

template <class Tiling>
void FillSoftMax(const AscendC::TensorShape& shape, Tiling& tiling) {
  tiling.srcM = RowsOf(shape);
  tiling.srcK = Columns(shape);
  tiling.srcSize = tiling.srcM * tiling.srcK;
}

// Fills in the lengths of a shape {B, S, H, ...}. `original` is the H before padding, or 0 if H has no padding.
template <class Tiling>
void FillBsh(const AscendC::TensorShape& shape, Tiling& tiling, uint32_t original) {
  tiling.bLength = static_cast<uint32_t>(shape.GetDim(0));
  tiling.sLength = static_cast<uint32_t>(shape.GetDim(1));
  tiling.hLength = static_cast<uint32_t>(shape.GetDim(2));
  tiling.originalHLength = original != 0 ? original : tiling.hLength;
}
inline uint32_t OriginalH(const AscendC::TensorShape& shape) {
  return shape.GetDimNum() > 3 ? static_cast<uint32_t>(shape.GetDim(3)) : 0;
}

}  // namespace gn_twin::host

namespace AscendC {

using TensorDataType = ge::DataType;

#define GNT_SOFTMAX_TILING(NAME, TILING, ...) \
  inline void NAME(const TensorShape& srcShape, __VA_ARGS__) { gn_twin::host::FillSoftMax(srcShape, TILING); }
GNT_SOFTMAX_TILING(SoftMaxTilingFunc, softmaxTiling, uint32_t, uint32_t, tiling::SoftMaxTiling& softmaxTiling)
GNT_SOFTMAX_TILING(LogSoftMaxTilingFunc, softmaxTiling, uint32_t, uint32_t, tiling::LogSoftMaxTiling& softmaxTiling)
GNT_SOFTMAX_TILING(SoftMaxFlashTilingFunc, flashTiling, uint32_t, uint32_t, tiling::SoftMaxTiling& flashTiling, bool)
GNT_SOFTMAX_TILING(SoftMaxFlashV2TilingFunc, flashTiling, uint32_t, uint32_t, uint32_t,
                   tiling::SoftMaxTiling& flashTiling, bool, bool = false, bool = false)
GNT_SOFTMAX_TILING(SoftMaxFlashV3TilingFunc, flashTiling, uint32_t, uint32_t, uint32_t,
                   tiling::SoftMaxTiling& flashTiling, bool, bool = false)
GNT_SOFTMAX_TILING(SoftMaxGradTilingFunc, gradTiling, uint32_t, uint32_t, tiling::SoftMaxTiling& gradTiling,
                   bool = false)
#undef GNT_SOFTMAX_TILING

// Whether a shape is a basic block: columns at least 256 bytes, below 2048, a multiple of 64; rows a multiple of 8.
inline bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling& tiling, const uint32_t dataTypeSize = 2) {
  return tiling.srcK < 2048 && tiling.srcK >= 256 / dataTypeSize && tiling.srcK % 64 == 0 && tiling.srcM % 8 == 0;
}

inline void GetLayerNormNDTilingInfo(const TensorShape& srcShape, uint32_t, uint32_t, bool,
                                     tiling::LayerNormTiling& tiling) {
  gn_twin::host::FillBsh(srcShape, tiling, gn_twin::host::OriginalH(srcShape));
}
inline void GetLayerNormNDTilingInfo(const TensorShape& srcShape, uint32_t, uint32_t, bool, bool,
                                     tiling::LayerNormSeparateTiling& tiling) {
  tiling.aLength = gn_twin::host::RowsOf(srcShape);
  tiling.rLength = gn_twin::host::Columns(srcShape);
}
inline void GetLayerNormGradNDTilingInfo(const TensorShape srcShape, uint32_t stackBufferSize, uint32_t, bool,
                                         tiling::LayerNormGradTiling& tiling) {
  gn_twin::host::FillBsh(srcShape, tiling, gn_twin::host::OriginalH(srcShape));
  tiling.stackBufferSize = stackBufferSize;
}
inline void GetLayerNormGradBetaNDTilingInfo(const TensorShape srcShape, uint32_t stackBufferSize, uint32_t, bool,
                                             tiling::LayerNormGradBetaTiling& tiling) {
  gn_twin::host::FillBsh(srcShape, tiling, gn_twin::host::OriginalH(srcShape));
  tiling.stackBufferSize = stackBufferSize;
}
inline bool GetDeepNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape, uint32_t, uint32_t,
                                  bool, bool, tiling::DeepNormTiling& tiling) {
  gn_twin::host::FillBsh(srcShape, tiling, gn_twin::host::Columns(originSrcShape));
  return tiling.hLength > 0;
}
inline bool GetRmsNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape, uint32_t, uint32_t,
                                 tiling::RmsNormTiling& tiling, bool = false) {
  gn_twin::host::FillBsh(srcShape, tiling, gn_twin::host::Columns(originSrcShape));
  tiling.reciprocalOfHLength = tiling.originalHLength == 0 ? 0.0f : 1.0f / static_cast<float>(tiling.originalHLength);
  return tiling.hLength > 0;
}

inline void PadTilingFunc(const TensorShape srcShape, const TensorShape oriSrcShape, uint32_t, uint32_t,
                          tiling::PadTiling& tiling) {
  tiling.srcHeight = gn_twin::host::RowsOf(srcShape);
  tiling.srcWidth = gn_twin::host::Columns(srcShape);
  tiling.srcOriWidth = gn_twin::host::Columns(oriSrcShape);
}
inline void UnPadTilingFunc(const TensorShape srcShape, uint32_t, uint32_t, tiling::UnPadTiling& tiling) {
  tiling.srcHeight = gn_twin::host::RowsOf(srcShape);
  tiling.srcWidth = gn_twin::host::Columns(srcShape);
}

// Stores the lengths in the order that the documentation of this function gives.
inline void GetTransposeTilingInfo(const TensorShape& srcShape, uint32_t, uint32_t, uint32_t,
                                   tiling::ConfusionTransposeTiling& tiling) {
  for (uint32_t i = 0; i < 4; ++i) tiling.shape[i] = static_cast<uint32_t>(srcShape.GetDim(i));
}

enum class TopKMode;  // defined in the kernel's headers, which host code does not include
template <class Platform>
inline bool TopKTilingFunc(const Platform&, int32_t inner, int32_t outter, int32_t k, uint32_t dataTypeSize, bool,
                           enum TopKMode, bool, tiling::TopkTiling& topKTiling) {
  topKTiling.allDataSize = inner * outter;
  topKTiling.innerDataSize = inner;
  return inner > 0 && inner % 32 == 0 && outter > 0 && k > 0 && (dataTypeSize == 2 || dataTypeSize == 4);
}
template <class Platform>
inline bool GetTopKMaxMinTmpSize(const Platform&, int32_t inner, int32_t outter, bool, bool, enum TopKMode, bool,
                                 uint32_t, uint32_t& maxValue, uint32_t& minValue) {
  const TensorShape shape{outter, inner};
  maxValue = GntScratch(shape, 4);
  minValue = GntScratch(shape, 1);
  return true;
}
template <class Platform>
inline uint32_t GetSortTmpSize(const Platform&, uint32_t elemCount, uint32_t) {
  return 8 * elemCount;
}
// Returns 0, because Concat prepares nothing on this product.
template <class Platform>
inline uint32_t GetConcatTmpSize(const Platform&, uint32_t, uint32_t) {
  return 0;
}

template <class Platform>
inline void GetUnPadMaxMinTmpSize(const Platform&, const TensorShape& srcShape, uint32_t, uint32_t& maxValue,
                                  uint32_t& minValue) {
  maxValue = GntScratch(srcShape, 4);
  minValue = GntScratch(srcShape, 1);
}
inline void GetRmsNormMaxMinTmpSize(const TensorShape& srcShape, uint32_t, uint32_t& maxValue, uint32_t& minValue,
                                    bool = false) {
  maxValue = GntScratch(srcShape, 4);
  minValue = GntScratch(srcShape, 1);
}
inline void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape& srcShape, uint32_t, uint32_t, uint32_t& maxValue,
                                           uint32_t& minValue, bool, bool = false) {
  maxValue = GntScratch(srcShape, 4);
  minValue = GntScratch(srcShape, 1);
}
inline void GetSwiGLUMaxMinTmpSize(const TensorShape& srcShape, uint32_t, uint32_t& maxValue, uint32_t& minValue,
                                   bool) {
  maxValue = GntScratch(srcShape, 4);
  minValue = GntScratch(srcShape, 1);
}

}  // namespace AscendC
