// DataCopy: copies of whole 32-byte blocks between global memory and the Unified Buffer (MTE2, MTE3), and inside the
// Unified Buffer (V).
//
// Source: docs/zh/api, 基础API/Memory矢量计算/数据搬运. Gaps run from the end of one row to the start of the next, whereas repeat
// strides run from start to start.
#pragma once
#include "gn_twin/basic_api/sync/atomic.h"
#include "gn_twin/tensor/emit.h"
#include "gn_twin/tensor/emit_copy.h"
#include "gn_twin/tensor/nan_origins.h"

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

inline void MoveRows(uint8_t* dst, Rows to, const uint8_t* src, Rows from) {
  for (uint32_t row = 0; row < from.count; ++row)
    __builtin_memmove(dst + row * to.pitch, src + row * from.pitch, from.bytes);
}

// Moves rows in, if the last row ends `behind` bytes after the end of the kernel's argument. These bytes are not read;
// the bits of NaN are written in their place.
GNT_COLD inline void MoveRowsIn(uint8_t* dst, Rows to, const uint8_t* src, Rows from, uint32_t behind) {
  const uint32_t last = from.count - 1;
  uint8_t* const end = dst + last * to.pitch + from.bytes - behind;
  MoveRows(dst, to, src, {last, from.bytes, from.pitch});
  __builtin_memmove(dst + last * to.pitch, src + last * from.pitch, from.bytes - behind);
  __builtin_memset(end, 0xff, behind);
}

// How a copy to global memory stores: it overwrites, or combines if an atomic operation is set.
struct Store {
  Atomic how;
  AtomicType type;

  explicit Store(const Core& core)
      : how(static_cast<Atomic>(core.atomic)), type(static_cast<AtomicType>(core.atomic_type)) {}
  void operator()(uint8_t* dst, Rows to, const uint8_t* src, Rows from) const {
    if (how == Atomic::None) return MoveRows(dst, to, src, from);
    for (uint32_t row = 0; row < from.count; ++row)
      CombineRowOf(type, how, dst + row * to.pitch, src + row * from.pitch, from.bytes);
  }
  // Stores the rows without the last `behind` bytes of the last one.
  GNT_COLD void Short(uint8_t* dst, Rows to, const uint8_t* src, Rows from, uint32_t behind) const {
    const uint32_t last = from.count - 1;
    const uint64_t bytes = from.bytes - behind;
    (*this)(dst, to, src, {last, from.bytes, from.pitch});
    (*this)(dst + last * to.pitch, {1, bytes, bytes}, src + last * from.pitch, {1, bytes, bytes});
  }
};

// Runs `copy`, a closure of plain values, at once or, if this launch delays copies, when something waits for the copy.
template <class Copy>
inline void Transfer(Pipe pipe, const uint8_t* dst, uint64_t dst_bytes, const uint8_t* src, uint64_t src_bytes,
                     const Copy& copy) {
  if constexpr (kObserved) {
    AsyncCopies* const delayed = ThisCore().delayed;
    if (delayed != nullptr) [[unlikely]]
      return delayed->Add(pipe, {src, src + src_bytes}, {dst, dst + dst_bytes}, copy);
  }
  copy();
}

// Returns `count` elements as one row of whole blocks. Refuses a remainder, which the device silently drops.
template <class T>
inline Rows WholeBlocks(uint64_t count, Loc loc) {
  const uint64_t bytes = BytesOf<T>(count);
  const uint64_t moved = bytes / kBlockBytes * kBlockBytes;
  if (kObserved && moved != bytes) {
    ThisCore().Refuse("copy-not-whole-blocks", loc,
                      {{"count", count}, {"element_bytes", sizeof(T)}, {"bytes", bytes}, {"moved", moved}});
  }
  return {1, moved, moved, Extent::Form::Count};
}

template <class T>
inline void RequireAlignment(Operation& operation, const char* role, const GlobalTensor<T>& global, uint32_t align) {
  const uintptr_t over = reinterpret_cast<uintptr_t>(global.Data()) % align;
  if (over != 0)
    operation.Refuse("gm-misaligned", {{"op", "DataCopy"}, {"role", role}, {"over", over}, {"align", align}});
}

inline void RequireRows(Operation& operation, const char* op, Rows rows) {
  if (rows.count > kMaxRows)
    operation.Refuse("copy-too-many-rows", {{"op", op}, {"rows", rows.count}, {"limit", kMaxRows}});
}
// Warns of a DataCopy of no rows or of empty rows, which 8.1 refuses and 9.x warns about. DataCopyPad may copy nothing.
inline void NoteEmptyRows(const AscendC::DataCopyParams& params, Loc loc) {
  if (kObserved && (params.blockCount == 0 || params.blockLen == 0)) [[unlikely]]
    ThisCore().Warn("copy-empty", loc, {}, {{"rows", params.blockCount}, {"blocks", params.blockLen}});
}

template <class T>
GNT_NOINLINE void EmitCheckedCopyIn(Loc loc, const LocalTensor<T>& dst, Rows to, const GlobalTensor<T>& src,
                                    Rows from) {
  EmitOperation("DataCopy", Kind::Copy, Pipe::MTE2, loc, [&](Operation& operation) {
    RequireRows(operation, "DataCopy", from);
    RequireAlignment(operation, "src", src, sizeof(T));
    if (to.Span() == 0) operation.core().NoteNothingDone({"DataCopy", loc, dst.BufferIndex(), ExtentOf(to, sizeof(T))});
    operation.Made(ExtentOf(to, sizeof(T)))
        .Local("dst", dst, to.Span(), Access::Write)
        .Rows(to.count, to.bytes, to.pitch);
    operation.Made(ExtentOf(from, sizeof(T)))
        .Global("src", src, from.Span(), Access::Read)
        .Rows(from.count, from.bytes, from.pitch);
    return operation.Emit(from.count * from.bytes / sizeof(T), 0, sizeof(T));
  });
}

// Copies from global memory to the Unified Buffer.
template <class T>
void CopyIn(Loc loc, const LocalTensor<T>& dst, Rows to, const GlobalTensor<T>& src, Rows from) {
  uint32_t behind = 0;
  if constexpr (kObserved)
    EmitCopy("DataCopy", loc, Pipe::MTE2, dst, to, src, from, sizeof(T), [&] {
      behind = BytesBehind("DataCopy", loc, src, from, false);
      EmitCheckedCopyIn(loc, dst, to.count == 1 ? to.Without(behind) : to, src, from.Without(behind));
    });
  uint8_t* const target = dst.Bytes();
  const uint8_t* const source = reinterpret_cast<const uint8_t*>(src.Data());
  if (behind != 0) [[unlikely]]
    return Transfer(Pipe::MTE2, target, to.Span(), source, from.Span() - behind,
                    [=] { MoveRowsIn(target, to, source, from, behind); });
  Transfer(Pipe::MTE2, target, to.Span(), source, from.Span(), [=] { MoveRows(target, to, source, from); });
}

template <class T>
GNT_NOINLINE void EmitCheckedCopyOut(const char* op, Loc loc, uint32_t align, const GlobalTensor<T>& dst, Rows to,
                                     const LocalTensor<T>& src, Rows from) {
  EmitOperation(op, Kind::Copy, Pipe::MTE3, loc, [&](Operation& operation) {
    RequireRows(operation, op, from);
    RequireAtomicType<T>(operation);
    RequireAlignment(operation, "dst", dst, align);
    operation.Made(ExtentOf(to, sizeof(T)))
        .Global("dst", dst, to.Span(), Access::Write)
        .Rows(to.count, to.bytes, to.pitch);
    operation.Made(ExtentOf(from, sizeof(T)))
        .Local("src", src, from.Span(), Access::Read)
        .Rows(from.count, from.bytes, from.pitch);
    return operation.Emit(from.count * from.bytes / sizeof(T), 0, sizeof(T));
  });
}

// Copies from the Unified Buffer to global memory. `align`: the global address must be a multiple of it; `rounds`: row
// lengths are whole blocks.
template <class T>
void CopyOut(const char* op, Loc loc, uint32_t align, const GlobalTensor<T>& dst, Rows to, const LocalTensor<T>& src,
             Rows from, bool rounds = true) {
  uint32_t behind = 0;
  if constexpr (kObserved)
    EmitCopy(op, loc, Pipe::MTE3, src, from, dst, to, align, [&] {
      if (rounds) behind = BytesBehind(op, loc, dst, to, true);
      EmitCheckedCopyOut(op, loc, align, dst, to.Without(behind), src, from.count == 1 ? from.Without(behind) : from);
    });
  uint8_t* const target = reinterpret_cast<uint8_t*>(dst.Data());
  const uint8_t* const source = src.Bytes();
  if constexpr (kObserved && kOneOf<T, float, half, bfloat16_t>) {
    if (ThisCore().nans.count != 0 && from.count != 0 && from.bytes != 0) [[unlikely]]
      ReportStoredNan<T>(ThisCore(), loc, source, from.count, from.bytes, from.pitch);
  }
  const Store store(ThisCore());
  if (behind != 0) [[unlikely]]
    return Transfer(Pipe::MTE3, target, to.Span() - behind, source, from.Span(),
                    [=] { store.Short(target, to, source, from, behind); });
  Transfer(Pipe::MTE3, target, to.Span(), source, from.Span(), [=] { store(target, to, source, from); });
}

template <class T, class U>
GNT_NOINLINE void EmitCheckedCopyInside(const CallKey& key, const LocalTensor<T>& dst, Rows to,
                                        const LocalTensor<U>& src, Rows from) {
  EmitOperation(key.op, Kind::Vector, Pipe::V, {key.file, key.line}, [&](Operation& operation) {
    RequireRows(operation, key.op, from);
    operation.Made(ExtentOf(to, sizeof(T)))
        .Local("dst", dst, to.Span(), Access::Write)
        .Rows(to.count, to.bytes, to.pitch);
    operation.Made(ExtentOf(from, sizeof(T)))
        .Local("src", src, from.Span(), Access::Read)
        .Rows(from.count, from.bytes, from.pitch);
    const uint64_t bytes = from.count * from.bytes;
    operation.Flows(Flow::Lanes).Complete(bytes / sizeof(T), static_cast<uint32_t>((bytes + 255) / 256), sizeof(T));
    return operation.EmitAs(key);
  });
}
// Encodes the rows of a copy in one word, equal only for equal rows. Returns 0 if the numbers do not fit.
inline uint64_t FormOf(Rows to, Rows from) {
  const uint64_t blocks = from.bytes / kBlockBytes;
  const uint64_t to_gap = (to.pitch - to.bytes) / kBlockBytes;
  const uint64_t from_gap = (from.pitch - from.bytes) / kBlockBytes;
  if (from.count > kMaxRows || ((blocks | to_gap | from_gap) >> 16) != 0) [[unlikely]]
    return 0;
  return from.count | blocks << 12 | to_gap << 28 | from_gap << 44;
}

// Copies inside the Unified Buffer. Both sides have equally many rows, of equally many whole blocks.
template <class T, class U>
void CopyInside(Loc loc, const LocalTensor<T>& dst, Rows to, const LocalTensor<U>& src, Rows from) {
  if constexpr (kObserved)
    EmitCall(
        "DataCopy", loc, CallKey::kRows, FormOf(to, from),
        [&](const CallKey& key) { EmitCheckedCopyInside(key, dst, to, src, from); }, dst, src);
  MoveRows(dst.Bytes(), to, src.Bytes(), from);
}

// Returns the rows of one side of a DataCopy, which are whole blocks.
inline Rows BlockRows(const AscendC::DataCopyParams& params, uint32_t gap) {
  const uint64_t bytes = uint64_t{params.blockLen} * kBlockBytes;
  return {params.blockCount, bytes, bytes + uint64_t{gap} * kBlockBytes, Extent::Form::Blocks};
}

}  // namespace gn_twin

namespace AscendC {

// Copies `count` elements. count * sizeof(T) must be a multiple of 32 bytes; otherwise use DataCopyPad.
template <class T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Rows row = gn_twin::WholeBlocks<T>(count, loc);
  gn_twin::CopyIn(loc, dst, row, src, row);
}
template <class T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Rows row = gn_twin::WholeBlocks<T>(count, loc);
  gn_twin::CopyOut("DataCopy", loc, sizeof(T), dst, row, src, row);
}
template <class T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Rows row = gn_twin::WholeBlocks<T>(count, loc);
  gn_twin::CopyInside(loc, dst, row, src, row);
}

// Copies rows of blockLen 32-byte blocks. The gaps of both sides count 32-byte blocks.
template <class T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::NoteEmptyRows(params, loc);
  gn_twin::CopyIn(loc, dst, gn_twin::BlockRows(params, params.dstGap), src, gn_twin::BlockRows(params, params.srcGap));
}
template <class T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::NoteEmptyRows(params, loc);
  gn_twin::CopyOut("DataCopy", loc, sizeof(T), dst, gn_twin::BlockRows(params, params.dstGap), src,
                   gn_twin::BlockRows(params, params.srcGap));
}
template <class T, class U>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& params,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::NoteEmptyRows(params, loc);
  gn_twin::CopyInside(loc, dst, gn_twin::BlockRows(params, params.dstGap), src,
                      gn_twin::BlockRows(params, params.srcGap));
}

}  // namespace AscendC
