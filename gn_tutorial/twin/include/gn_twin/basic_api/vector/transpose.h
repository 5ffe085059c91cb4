// Instructions that rearrange blocks: Transpose (16 x 16, and NCHW to NHWC and back) and TransDataTo5HD.
//
// Source: docs/zh/api, 数据排布转换/Transpose, TransDataTo5HD.
#pragma once
#include "gn_twin/basic_api/vector/forms.h"

namespace AscendC {

enum class TransposeType : uint8_t {
  TRANSPOSE_TYPE_NONE,
  TRANSPOSE_NZ2ND_0213,
  TRANSPOSE_NZ2NZ_0213,
  TRANSPOSE_NZ2NZ_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITHOUT_N,
  TRANSPOSE_NZ2NZ_012_WITHOUT_N,
  TRANSPOSE_ND2ND_ONLY,
  TRANSPOSE_ND_UB_GM,
  TRANSPOSE_GRAD_ND_UB_GM,
  TRANSPOSE_ND2ND_B16,
  TRANSPOSE_NCHW2NHWC,
  TRANSPOSE_NHWC2NCHW
};

struct TransposeParamsExt {
  uint16_t nSize = 0;
  uint16_t cSize = 0;
  uint16_t hSize = 0;
  uint16_t wSize = 0;
  TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;

  constexpr TransposeParamsExt() = default;
  constexpr TransposeParamsExt(uint16_t n, uint16_t c, uint16_t h, uint16_t w, TransposeType type)
      : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}
};

struct TransDataTo5HDParams {
  bool dstHighHalf = false;  // 8-bit elements: use the upper half of each block
  bool srcHighHalf = false;
  uint8_t repeatTimes = 1;
  uint16_t dstRepStride = 0;  // blocks
  uint16_t srcRepStride = 0;

  constexpr TransDataTo5HDParams() = default;
  constexpr TransDataTo5HDParams(bool dst_high, bool src_high, uint8_t repeats, uint16_t dst_rep, uint16_t src_rep)
      : dstHighHalf(dst_high),
        srcHighHalf(src_high),
        repeatTimes(repeats),
        dstRepStride(dst_rep),
        srcRepStride(src_rep) {}
};

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

}  // namespace AscendC

namespace gn_twin {

inline constexpr uint32_t kTile = 16;  // rows of the transposing unit; also its columns, except for 32-bit elements

// Transposes one tile of kTile x kTile elements. dst may be src.
template <class T>
void TransposeTile(T* dst, const T* src) {
  T tile[kTile * kTile];
  __builtin_memcpy(tile, src, sizeof(tile));
  for (uint32_t row = 0; row < kTile; ++row) {
    for (uint32_t column = 0; column < kTile; ++column) dst[column * kTile + row] = tile[row * kTile + column];
  }
}

// Transposes each of `planes` matrices of rows x columns. dst and src must not overlap.
template <class T>
void TransposePlanes(T* dst, const T* src, uint32_t planes, uint32_t rows, uint32_t columns) {
  for (uint32_t plane = 0; plane < planes; ++plane, dst += rows * columns, src += rows * columns) {
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t column = 0; column < columns; ++column) dst[column * rows + row] = src[row * columns + column];
    }
  }
}

// Returns the number of scratch bytes that the documentation requires.
template <class T>
uint64_t TransposeScratch(const AscendC::TransposeParamsExt& params) {
  const uint64_t tile = (sizeof(T) == 1 ? 32u : 16u) * kBlockBytes;
  return params.transposeType == AscendC::TransposeType::TRANSPOSE_NCHW2NHWC ? (params.cSize + 2u) * tile
                                                                             : (params.cSize * 2u + 1u) * tile;
}

// Does one repeat of TransDataTo5HD. Column c of the 16 source blocks becomes block c of the destination (16-bit),
// blocks 2c and 2c + 1 (32-bit), or a half of block c (8-bit, 16 columns of the chosen half).
template <class T>
void TransposeBlocks(uint8_t* const* dst, uint8_t* const* src, const AscendC::TransDataTo5HDParams& params) {
  constexpr uint32_t kColumns = sizeof(T) == 4 ? 8 : 16;
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
  T tile[kTile][kColumns];
  const uint32_t from = sizeof(T) == 1 && params.srcHighHalf ? kBlockBytes / 2 : 0;
  const uint32_t to = sizeof(T) == 1 && params.dstHighHalf ? kBlockBytes / 2 : 0;
  for (uint32_t row = 0; row < kTile; ++row) __builtin_memcpy(tile[row], src[row] + from, sizeof(tile[row]));
  for (uint32_t column = 0; column < kColumns; ++column) {
    for (uint32_t row = 0; row < kTile; ++row) {
      const uint32_t at = column * kTile + row;  // the element's index over all destination blocks; not used for 8 bits
      uint8_t* block = sizeof(T) == 1 ? dst[column] + to + row : dst[at / kPerBlock] + at % kPerBlock * sizeof(T);
      __builtin_memcpy(block, &tile[row][column], sizeof(T));
    }
  }
}

// Returns the number of bytes from an address in a list to the end of the block that the last repeat touches.
inline uint64_t TransDataReach(uint32_t repeats, uint32_t stride) {
  return repeats == 0 ? 0 : (repeats == 1 ? 1 : uint64_t{repeats} - 1) * stride * kBlockBytes + kBlockBytes;
}

template <class T>
void RunTransData(Loc loc, const LocalTensor<T>* dst_list, const LocalTensor<T>* src_list,
                  const AscendC::TransDataTo5HDParams& params) {
  uint8_t* dst[kTile];
  uint8_t* src[kTile];
  for (uint32_t i = 0; i < kTile; ++i) {
    dst[i] = dst_list[i].Bytes();
    src[i] = src_list[i].Bytes();
  }
  // With one repeat the stride is added to the start address, as the documentation warns.
  const uint32_t first = params.repeatTimes == 1 ? 1 : 0;
  if constexpr (kObserved) {
    EmitOperation("TransDataTo5HD", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      for (uint32_t i = 0; i < kTile; ++i) {
        operation.Check("dst", dst_list[i], TransDataReach(params.repeatTimes, params.dstRepStride));
        operation.Check("src", src_list[i], TransDataReach(params.repeatTimes, params.srcRepStride));
      }
      if (first == 1 && (params.dstRepStride != 0 || params.srcRepStride != 0)) operation.Warn("transdata-stride", {});
      const uint8_t* ub = operation.core().ub;
      const uint32_t piece = sizeof(T) == 1 ? kBlockBytes / 2 : kBlockBytes;
      PieceList written(params.repeatTimes * kTile);
      PieceList read(params.repeatTimes * kTile);
      for (uint32_t i = 0; i < params.repeatTimes * kTile; ++i) {
        const uint32_t blocks = i / kTile + first;
        const uint32_t high = sizeof(T) == 1 ? piece : 0;
        written.Add(static_cast<uint64_t>(dst[i % kTile] - ub) + blocks * params.dstRepStride * kBlockBytes +
                    (params.dstHighHalf ? high : 0));
        read.Add(static_cast<uint64_t>(src[i % kTile] - ub) + blocks * params.srcRepStride * kBlockBytes +
                 (params.srcHighHalf ? high : 0));
      }
      operation.Pieces("dst", ub, written.Data(), written.Count(), piece, Access::Write, sizeof(T));
      operation.Pieces("src", ub, read.Data(), read.Count(), piece, Access::Read, sizeof(T));
      return operation.Emit(uint64_t{params.repeatTimes} * kTile * kBlockBytes / sizeof(T), params.repeatTimes,
                            sizeof(T));
    });
  }
  for (uint32_t repeat = 0; repeat < params.repeatTimes; ++repeat) {
    uint8_t* to[kTile];
    uint8_t* from[kTile];
    for (uint32_t i = 0; i < kTile; ++i) {
      to[i] = dst[i] + uint64_t{repeat + first} * params.dstRepStride * kBlockBytes;
      from[i] = src[i] + uint64_t{repeat + first} * params.srcRepStride * kBlockBytes;
    }
    TransposeBlocks<T>(to, from, params);
  }
}

}  // namespace gn_twin

namespace AscendC {

// Transposes a 16 x 16 tile of 16-bit elements. dst may be src.
template <class T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, int16_t, uint16_t, half>, "Transpose on Atlas A2 takes int16_t, uint16_t, half");
  constexpr uint32_t kElements = gn_twin::kTile * gn_twin::kTile;
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation("Transpose", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc,
                           [&](gn_twin::Operation& operation) {
                             operation.Local("dst", dst, kElements * sizeof(T), gn_twin::Access::Write);
                             operation.Local("src", src, kElements * sizeof(T), gn_twin::Access::Read);
                             return operation.Emit(kElements, 1, sizeof(T));
                           });
  }
  gn_twin::TransposeTile(dst.Data(), src.Data());
}

// Transposes [N, C, H, W] to [N, H, W, C] or back, or the 16 x 16 tile. TRANSPOSE_TYPE_NONE does nothing.
template <class T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const TransposeParamsExt& transposeParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float>,
                "Transpose on Atlas A2 takes 8-, 16- and 32-bit elements, not bfloat16_t");
  const TransposeType type = transposeParams.transposeType;
  if (type == TransposeType::TRANSPOSE_ND2ND_B16) {
    if constexpr (sizeof(T) == 2) {
      Transpose(dst, src, loc);
      return;
    }
  }
  if (type == TransposeType::TRANSPOSE_TYPE_NONE) return;
  const bool to_last = type == TransposeType::TRANSPOSE_NCHW2NHWC;
  const uint32_t plane = uint32_t{transposeParams.hSize} * transposeParams.wSize;
  const uint32_t channels = transposeParams.cSize;
  const uint64_t elements = uint64_t{transposeParams.nSize} * channels * plane;
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation(
        "Transpose", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc, [&](gn_twin::Operation& operation) {
          if (!to_last && type != TransposeType::TRANSPOSE_NHWC2NCHW)
            operation.Stop("transpose-type", {{"type", static_cast<int>(type)}, {"element_bytes", sizeof(T)}});
          if (plane > 4095 || channels > 4095 || plane * sizeof(T) % gn_twin::kBlockBytes != 0) {
            operation.Stop("transpose-shape", {{"channels", channels}, {"plane", plane}, {"bytes", plane * sizeof(T)}});
          }
          operation.Local("dst", dst, elements * sizeof(T), gn_twin::Access::Write);
          operation.Local("src", src, elements * sizeof(T), gn_twin::Access::Read);
          if (elements > 0) {
            operation.Local("sharedTmpBuffer", sharedTmpBuffer, gn_twin::TransposeScratch<T>(transposeParams),
                            gn_twin::Access::ReadWrite);
          }
          const bool apart = dst.Bytes() + elements * sizeof(T) <= src.Bytes() ||
                             src.Bytes() + elements * sizeof(T) <= dst.Bytes() || elements == 0;
          if (!apart) operation.Refuse("operands-overlap", {{"op", "Transpose"}, {"first", "dst"}, {"second", "src"}});
          return operation.Emit(elements, 1, sizeof(T));
        });
  }
  gn_twin::TransposePlanes(dst.Data(), src.Data(), transposeParams.nSize, to_last ? channels : plane,
                           to_last ? plane : channels);
}

// Transposes sixteen source blocks into sixteen destination blocks, given as lists of tensors.
template <class T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float>,
                "TransDataTo5HD on Atlas A2 takes 8-, 16- and 32-bit elements, not bfloat16_t");
  gn_twin::RunTransData<T>(loc, dstList, srcList, nchwconvParams);
}

// Takes lists of addresses (GetPhyAddr). The twin can check only that they are in the Unified Buffer.
template <class T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Core& core = gn_twin::ThisCore();
  const auto whole = [&core](uint64_t address) {
    T* at = reinterpret_cast<T*>(static_cast<uintptr_t>(address));
    const uint64_t room = core.InUb(at) ? core.ub + gn_twin::kUbBytes - reinterpret_cast<uint8_t*>(at) : 0;
    return LocalTensor<T>(at, static_cast<uint32_t>(room / sizeof(T)), TPosition::VECCALC, gn_twin::kNoBuffer, 0);
  };
  LocalTensor<T> dst[gn_twin::kTile];
  LocalTensor<T> src[gn_twin::kTile];
  for (uint32_t i = 0; i < gn_twin::kTile; ++i) {
    dst[i] = whole(dstList[i]);
    src[i] = whole(srcList[i]);
  }
  TransDataTo5HD<T>(dst, src, nchwconvParams, loc);
}
// Takes lists of pointers. Public kernels call it by this name.
template <class T>
inline void TransDataTo5HDImpl(__ubuf__ T* dstList[NCHW_CONV_ADDR_LIST_SIZE],
                               __ubuf__ T* srcList[NCHW_CONV_ADDR_LIST_SIZE],
                               const TransDataTo5HDParams& nchwconvParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  uint64_t dst[gn_twin::kTile];
  uint64_t src[gn_twin::kTile];
  for (uint32_t i = 0; i < gn_twin::kTile; ++i) {
    dst[i] = reinterpret_cast<uintptr_t>(dstList[i]);
    src[i] = reinterpret_cast<uintptr_t>(srcList[i]);
  }
  TransDataTo5HD<T>(dst, src, nchwconvParams, loc);
}
// Takes lists of addresses in local memory.
template <class T>
inline void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                           const TransDataTo5HDParams& nchwconvParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation("TransDataTo5HD", gn_twin::Kind::Words, gn_twin::Pipe::S, loc,
                           [&](gn_twin::Operation& operation) {
                             constexpr uint64_t kBytes = gn_twin::kTile * sizeof(uint64_t);
                             operation.Local("dst", dst, kBytes, gn_twin::Access::Read);
                             operation.Local("src", src, kBytes, gn_twin::Access::Read);
                             return operation.Emit(2 * gn_twin::kTile, 1, sizeof(uint64_t));
                           });
  }
  TransDataTo5HD<T>(dst.Data(), src.Data(), nchwconvParams, loc);
}

}  // namespace AscendC
