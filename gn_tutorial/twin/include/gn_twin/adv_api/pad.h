// Pad fills columns beside the data of each row of a matrix; UnPad removes columns at the right end of each row.
//
// Source: docs/zh/api, 高阶API/张量变换/Pad and UnPad. The tiling gives the shape of the source.
#pragma once
#include "gn_twin/adv_api/activation.h"
#include "gn_twin/base/adv_tiling.h"
#include "gn_twin/adv_api/matrix.h"

namespace AscendC {

struct PadParams {
  uint16_t leftPad = 0;  // columns
  uint16_t rightPad = 0;
  int32_t padValue = 0;
};
struct UnPadParams {
  uint16_t leftPad = 0;  // has no effect
  uint16_t rightPad = 0;
};

}  // namespace AscendC

namespace gn_twin {

template <class T>
inline constexpr bool kPads = kOneOf<T, int16_t, uint16_t, half, int32_t, uint32_t, float>;

template <class T>
void RunPad(Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, const AscendC::PadParams& params,
            const AscendC::tiling::PadTiling& tiling) {
  static_assert(kPads<T>, "Pad takes int16_t, uint16_t, half, int32_t, uint32_t, float");
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
  // If the rows of the source are whole 32-byte blocks, a row is data followed by unused elements, which the padding
  // replaces. Otherwise a row is all data, and the padding makes it longer.
  const bool whole = tiling.srcWidth % kPerBlock == 0;
  const uint32_t data = whole ? tiling.srcOriWidth : tiling.srcWidth;
  const uint32_t width = whole ? tiling.srcWidth : (tiling.srcWidth + kPerBlock - 1) / kPerBlock * kPerBlock;
  const uint64_t in = uint64_t{tiling.srcHeight} * tiling.srcWidth;
  const uint64_t out = uint64_t{tiling.srcHeight} * width;
  if constexpr (kObserved) {
    EmitOperation("Pad", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      if (uint32_t{params.leftPad} + data + params.rightPad > width || (whole && params.leftPad != 0) ||
          in * sizeof(T) % kBlockBytes != 0) {
        operation.Stop("pad-shape", {{"rows", tiling.srcHeight},
                                     {"columns", tiling.srcWidth},
                                     {"left", params.leftPad},
                                     {"right", params.rightPad},
                                     {"data", data},
                                     {"width", width}});
      }
      operation.Local("dst", dst, out * sizeof(T), Access::Write).Local("src", src, in * sizeof(T), Access::Read);
      RequireApart("Pad", loc, dst, out * sizeof(T), src, in * sizeof(T));
      return operation.Emit(out, RepeatsOf(out, sizeof(T)), sizeof(T));
    });
  }
  const T fill = T(params.padValue);
  for (uint32_t row = 0; row < tiling.srcHeight; ++row) {
    T* to = dst.Data() + uint64_t{row} * width;
    const T* from = src.Data() + uint64_t{row} * tiling.srcWidth;
    for (uint32_t column = 0; column < uint32_t{params.leftPad} + data + params.rightPad; ++column) {
      const bool inside = column >= params.leftPad && column - params.leftPad < data;
      to[column] = inside ? from[column - params.leftPad] : fill;
    }
  }
}

template <class T>
void RunUnPad(Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, const AscendC::UnPadParams& params,
              const AscendC::tiling::UnPadTiling& tiling) {
  static_assert(kPads<T>, "UnPad takes int16_t, uint16_t, half, int32_t, uint32_t, float");
  const Matrix from{tiling.srcHeight, tiling.srcWidth, tiling.srcWidth};
  const uint64_t out = uint64_t{from.rows} * (from.columns - params.rightPad);
  if constexpr (kObserved) {
    EmitOperation("UnPad", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "UnPad", from, sizeof(T));
      if (params.rightPad == 0 || params.rightPad * sizeof(T) >= kBlockBytes || params.rightPad >= from.columns) {
        operation.Stop("unpad-right", {{"right", params.rightPad}, {"columns", from.columns}});
      }
      operation.Local("dst", dst, out * sizeof(T), Access::Write);
      operation.Local("src", src, from.Elements() * sizeof(T), Access::Read);
      RequireApart("UnPad", loc, dst, out * sizeof(T), src, from.Elements() * sizeof(T));
      return operation.Emit(out, RepeatsOf(out, sizeof(T)), sizeof(T));
    });
  }
  T* to = dst.Data();
  for (uint32_t row = 0; row < from.rows; ++row) {
    for (uint32_t column = 0; column + params.rightPad < from.columns; ++column) {
      *to++ = src.Data()[from.At(row, column)];
    }
  }
}

}  // namespace gn_twin

namespace AscendC {

template <class T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, PadParams& padParams,
                const gn_twin::Scratch&, PadTiling& tiling, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunPad(loc, dstTensor, srcTensor, padParams, tiling);
}
template <class T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, PadParams& padParams,
                PadTiling& tiling, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunPad(loc, dstTensor, srcTensor, padParams, tiling);
}
template <class T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, UnPadParams& unPadParams,
                  LocalTensor<uint8_t>& sharedTmpBuffer, UnPadTiling& tiling, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Scratch scratch(sharedTmpBuffer);
  gn_twin::RunUnPad(loc, dstTensor, srcTensor, unPadParams, tiling);
}
template <class T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, UnPadParams& unPadParams,
                  UnPadTiling& tiling, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunUnPad(loc, dstTensor, srcTensor, unPadParams, tiling);
}

}  // namespace AscendC
