// DataCopy: transfers of whole 32-byte blocks between global memory and the Unified Buffer (MTE2, MTE3) and inside the latter (V).
//
// Source: docs/zh/api, 基础API/Memory矢量计算/数据搬运. Gaps run from the end of one row to the start of the next: the opposite of
// repeat strides, which run from start to start.
#pragma once
#include "gn_twin/operand.h"

namespace AscendC {

struct DataCopyParams {
  uint16_t blockCount = 1;  // rows, at most 4095
  uint16_t blockLen = 0;    // DataCopy: 32-byte blocks; DataCopyPad: bytes
  union {
    uint16_t srcGap = 0;
    uint16_t srcStride;
  };
  union {
    uint16_t dstGap = 0;
    uint16_t dstStride;
  };

  constexpr DataCopyParams() {}
  constexpr DataCopyParams(uint16_t count, uint16_t len, uint16_t src_gap, uint16_t dst_gap)
      : blockCount(count), blockLen(len), srcGap(src_gap), dstGap(dst_gap) {}
};

}  // namespace AscendC

namespace gn_twin {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;

inline constexpr uint32_t kMaxRows = 4095;

// Equal rows at a regular pitch, in bytes.
struct Rows {
  uint32_t count = 0;
  uint64_t bytes = 0;
  uint64_t pitch = 0;
  uint64_t Extent() const { return count == 0 || bytes == 0 ? 0 : (count - 1) * pitch + bytes; }
};

inline void MoveRows(uint8_t* dst, Rows to, const uint8_t* src, Rows from) {
  for (uint32_t row = 0; row < from.count; ++row)
    __builtin_memmove(dst + row * to.pitch, src + row * from.pitch, from.bytes);
}

// The bytes that `count` elements move: whole blocks only. The device drops the rest without a word; the twin stops.
template <class T>
inline uint64_t WholeBlocks(Operation* operation, uint64_t count) {
  const uint64_t bytes = count * sizeof(T);
  if (operation != nullptr && bytes % kBlockBytes != 0) {
    operation->Stop("copy-not-whole-blocks", {{"count", count},
                                              {"element_bytes", sizeof(T)},
                                              {"bytes", bytes},
                                              {"moved", bytes / kBlockBytes * kBlockBytes}});
  }
  return bytes / kBlockBytes * kBlockBytes;
}

template <class T>
inline void RequireElementAlignment(Operation& operation, const char* role, const GlobalTensor<T>& global) {
  const uintptr_t over = reinterpret_cast<uintptr_t>(global.Data()) % sizeof(T);
  if (over != 0)
    operation.Stop("gm-misaligned", {{"op", "DataCopy"}, {"role", role}, {"over", over}, {"align", sizeof(T)}});
}

inline void RequireRows(Operation& operation, const char* op, uint32_t count) {
  if (count > kMaxRows) operation.Stop("copy-too-many-rows", {{"op", op}, {"rows", count}, {"limit", kMaxRows}});
}

// Global memory to Unified Buffer.
template <class T>
void CopyIn(const char* op, Loc loc, const LocalTensor<T>& dst, Rows to, const GlobalTensor<T>& src, Rows from) {
  if constexpr (kObserved) {
    Operation operation(op, Kind::Copy, Pipe::MTE2, loc);
    RequireRows(operation, op, from.count);
    operation.Local("dst", dst, to.Extent(), Access::Write).Rows(to.count, to.bytes, to.pitch);
    operation.Global("src", src, from.Extent(), Access::Read).Rows(from.count, from.bytes, from.pitch);
    operation.Emit(from.count * from.bytes / sizeof(T), 0, sizeof(T));
  }
  MoveRows(dst.Bytes(), to, reinterpret_cast<const uint8_t*>(src.Data()), from);
}

// Unified Buffer to global memory.
template <class T>
void CopyOut(const char* op, Loc loc, const GlobalTensor<T>& dst, Rows to, const LocalTensor<T>& src, Rows from) {
  if constexpr (kObserved) {
    Operation operation(op, Kind::Copy, Pipe::MTE3, loc);
    RequireRows(operation, op, from.count);
    operation.Global("dst", dst, to.Extent(), Access::Write).Rows(to.count, to.bytes, to.pitch);
    operation.Local("src", src, from.Extent(), Access::Read).Rows(from.count, from.bytes, from.pitch);
    operation.Emit(from.count * from.bytes / sizeof(T), 0, sizeof(T));
  }
  MoveRows(reinterpret_cast<uint8_t*>(dst.Data()), to, src.Bytes(), from);
}

template <class T, class U>
void CopyInside(Loc loc, const LocalTensor<T>& dst, Rows to, const LocalTensor<U>& src, Rows from) {
  if constexpr (kObserved) {
    Operation operation("DataCopy", Kind::Vector, Pipe::V, loc);
    RequireRows(operation, "DataCopy", from.count);
    operation.Local("dst", dst, to.Extent(), Access::Write).Rows(to.count, to.bytes, to.pitch);
    operation.Local("src", src, from.Extent(), Access::Read).Rows(from.count, from.bytes, from.pitch);
    operation.Emit(from.count * from.bytes / sizeof(T), static_cast<uint32_t>((from.count * from.bytes + 255) / 256),
                   sizeof(T));
  }
  MoveRows(dst.Bytes(), to, src.Bytes(), from);
}

// Rows of whole blocks on one side of a DataCopy.
inline Rows BlockRows(const AscendC::DataCopyParams& params, uint32_t gap) {
  const uint64_t bytes = uint64_t{params.blockLen} * kBlockBytes;
  return {params.blockCount, bytes, bytes + uint64_t{gap} * kBlockBytes};
}

}  // namespace gn_twin

namespace AscendC {

// `count` elements; count * sizeof(T) must be a multiple of 32 bytes, otherwise use DataCopyPad.
template <class T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  uint64_t bytes;
  if constexpr (gn_twin::kObserved) {
    gn_twin::Operation operation("DataCopy", gn_twin::Kind::Copy, gn_twin::Pipe::MTE2, loc);
    gn_twin::RequireElementAlignment(operation, "src", src);
    bytes = gn_twin::WholeBlocks<T>(&operation, count);
  } else {
    bytes = gn_twin::WholeBlocks<T>(nullptr, count);
  }
  gn_twin::CopyIn("DataCopy", loc, dst, {1, bytes, bytes}, src, {1, bytes, bytes});
}
template <class T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  uint64_t bytes;
  if constexpr (gn_twin::kObserved) {
    gn_twin::Operation operation("DataCopy", gn_twin::Kind::Copy, gn_twin::Pipe::MTE3, loc);
    gn_twin::RequireElementAlignment(operation, "dst", dst);
    bytes = gn_twin::WholeBlocks<T>(&operation, count);
  } else {
    bytes = gn_twin::WholeBlocks<T>(nullptr, count);
  }
  gn_twin::CopyOut("DataCopy", loc, dst, {1, bytes, bytes}, src, {1, bytes, bytes});
}
template <class T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  uint64_t bytes;
  if constexpr (gn_twin::kObserved) {
    gn_twin::Operation operation("DataCopy", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc);
    bytes = gn_twin::WholeBlocks<T>(&operation, count);
  } else {
    bytes = gn_twin::WholeBlocks<T>(nullptr, count);
  }
  gn_twin::CopyInside(loc, dst, {1, bytes, bytes}, src, {1, bytes, bytes});
}

// Rows of blockLen 32-byte blocks with gaps of 32-byte blocks on both sides.
template <class T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CopyIn("DataCopy", loc, dst, gn_twin::BlockRows(params, params.dstGap), src,
                  gn_twin::BlockRows(params, params.srcGap));
}
template <class T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CopyOut("DataCopy", loc, dst, gn_twin::BlockRows(params, params.dstGap), src,
                   gn_twin::BlockRows(params, params.srcGap));
}
template <class T, class U>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& params,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CopyInside(loc, dst, gn_twin::BlockRows(params, params.dstGap), src,
                      gn_twin::BlockRows(params, params.srcGap));
}

}  // namespace AscendC
