// DataCopyPad: copies of rows of any number of bytes. In the Unified Buffer each row fills whole 32-byte blocks.
//
// Source: docs/zh/api, 基础API/Memory矢量计算/数据搬运 (DataCopyPad). Row lengths, and gaps in global memory, count bytes;
// gaps in the Unified Buffer count blocks.
#pragma once
#include "gn_twin/basic_api/memory/data_copy.h"
#include "gn_twin/tensor/emit_padding.h"

namespace AscendC {

struct DataCopyExtParams {
  uint16_t blockCount = 1;  // rows
  uint32_t blockLen = 0;    // bytes, at most 2097151
  uint32_t srcStride = 0;   // gap: bytes in global memory, 32-byte blocks in the Unified Buffer
  uint32_t dstStride = 0;
  uint32_t rsv = 0;

  constexpr DataCopyExtParams() = default;
  constexpr DataCopyExtParams(uint16_t count, uint32_t len, uint32_t src_stride, uint32_t dst_stride, uint32_t reserved)
      : blockCount(count), blockLen(len), srcStride(src_stride), dstStride(dst_stride), rsv(reserved) {}
};

struct DataCopyPadParams {
  bool isPad = false;
  uint8_t leftPadding = 0;  // elements, at most 32 bytes of them
  uint8_t rightPadding = 0;
  uint64_t paddingValue = 0;  // the bits of one element

  constexpr DataCopyPadParams() = default;
  constexpr DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

template <class T>
struct DataCopyPadExtParams {
  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  T paddingValue = T(0);

  constexpr DataCopyPadExtParams() = default;
  template <class V>
  constexpr DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, V value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(static_cast<T>(value)) {}
};
template <class V>
DataCopyPadExtParams(bool, uint8_t, uint8_t, V) -> DataCopyPadExtParams<V>;

}  // namespace AscendC

namespace gn_twin {

inline constexpr uint32_t kMaxPadRowBytes = 2097151;

// The padding around each row that DataCopyPad copies in.
struct Padding {
  bool is_pad = false;
  uint32_t left = 0;  // elements
  uint32_t right = 0;
  uint64_t bits = 0;  // of one element
};

// The value that fills the padding. With isPad it is paddingValue. Otherwise, with left or right padding, it is the
// value set before (by SetPadValue or a copy with isPad), or poison if none is set. Without either padding, the rest of
// a row's last block gets copies of the row's first element, or poison (docs/hardware-choices.md, pad_dummy).
template <class T>
struct Filling {
  T value;
  bool repeats_first = false;

  Filling(const Core& core, const Padding& padding) {
    __builtin_memset(&value, 0xff, sizeof(T));
    if (padding.is_pad) {
      __builtin_memcpy(&value, &padding.bits, sizeof(T));
    } else if (padding.left + padding.right == 0) {
      repeats_first = core.job->options.pad_dummy == 0;
    } else if (core.pad_value_set) {
      __builtin_memcpy(&value, &core.pad_value, sizeof(T));
    }
  }
};

// Fills the left and right padding of a row, and the rest of its last block.
template <class T>
void PadRow(T* row, uint64_t row_elements, const Padding& padding, const Filling<T>& filling) {
  const uint64_t whole = WholeBlockBytes((padding.left + row_elements + padding.right) * sizeof(T)) / sizeof(T);
  const T fill = filling.value;
  const T dummy = filling.repeats_first && row_elements > 0 ? row[0] : fill;
  for (uint64_t i = 0; i < padding.left; ++i) row[i] = fill;
  for (uint64_t i = padding.left + row_elements; i < whole; ++i) row[i] = dummy;
}

template <class T>
GNT_NOINLINE void EmitCheckedCopyPadIn(Loc loc, const LocalTensor<T>& dst, Rows to, const GlobalTensor<T>& src,
                                       Rows from, const Padding& padding) {
  EmitOperation("DataCopyPad", Kind::Copy, Pipe::MTE2, loc, [&](Operation& operation) {
    RequireRows(operation, "DataCopyPad", from);
    if (from.bytes > kMaxPadRowBytes)
      operation.Refuse("pad-row-too-long", {{"bytes", from.bytes}, {"limit", kMaxPadRowBytes}});
    if (from.bytes % sizeof(T) != 0)
      operation.Refuse("pad-row-not-whole", {{"bytes", from.bytes}, {"element_bytes", sizeof(T)}});
    if (padding.left * sizeof(T) > kBlockBytes || padding.right * sizeof(T) > kBlockBytes) {
      operation.Stop("pad-too-wide",
                     {{"left", padding.left}, {"right", padding.right}, {"limit", kBlockBytes / sizeof(T)}});
    }
    if (sizeof(T) == 8 && padding.is_pad && padding.bits != 0)
      operation.Refuse("pad-value-64-bit", {{"value", padding.bits}});
    if (!padding.is_pad && padding.left + padding.right != 0 && !operation.core().pad_value_set && from.bytes != 0)
      operation.Warn("pad-value-unset", {{"left", padding.left}, {"right", padding.right}});
    const Extent made{to.made,      sizeof(T),    to.count, from.bytes, (to.pitch - to.bytes) / kBlockBytes,
                      padding.left, padding.right};
    if (to.Span() == 0) operation.core().NoteNothingDone({"DataCopyPad", loc, dst.BufferIndex(), made});
    operation.Made(made).Local("dst", dst, to.Span(), Access::Write).Rows(to.count, to.bytes, to.pitch);
    operation.Made(ExtentOf(from, sizeof(T)))
        .Global("src", src, from.Span(), Access::Read)
        .Rows(from.count, from.bytes, from.pitch);
    return operation.Emit(from.count * from.bytes / sizeof(T), 0, sizeof(T));
  });
}

// Copies rows to the Unified Buffer. Row lengths and src_gap count bytes; dst_gap counts 32-byte blocks.
template <class T>
void CopyPadIn(Loc loc, const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint32_t rows, uint64_t row_bytes,
               uint64_t src_gap, uint64_t dst_gap, const Padding& padding) {
  Core& core = ThisCore();
  const uint64_t whole = WholeBlockBytes((padding.left + padding.right) * sizeof(T) + row_bytes);
  const Rows from{rows, row_bytes, row_bytes + src_gap, Extent::Form::Bytes};
  const Rows to{rows, row_bytes == 0 ? 0 : whole, whole + dst_gap * kBlockBytes, Extent::Form::Padded};
  if constexpr (kObserved) {
    const bool plain =
        padding.left + padding.right == 0 && (sizeof(T) < 8 || !padding.is_pad) && row_bytes % sizeof(T) == 0;
    const auto emit_checked = [&] { EmitCheckedCopyPadIn(loc, dst, to, src, from, padding); };
    plain ? EmitCopy("DataCopyPad", loc, Pipe::MTE2, dst, to, src, from, 1, emit_checked) : emit_checked();
  }
  if (row_bytes == 0) return;
  if (padding.is_pad) {  // the value stays in the register for later copies
    core.pad_value = padding.bits;
    core.pad_value_set = true;
  }
  uint8_t* const target = dst.Bytes();
  const uint8_t* const source = reinterpret_cast<const uint8_t*>(src.Data());
  if (whole == row_bytes)  // the usual case: nothing is left to fill
    return Transfer(Pipe::MTE2, target, to.Span(), source, from.Span(), [=] { MoveRows(target, to, source, from); });
  if (kObserved) core.padded_rows.Note({row_bytes, to.pitch, loc});
  if (kObserved && rows != 0 && core.delayed == nullptr)
    EmitPadding("DataCopyPad", loc, dst, to, padding.left * sizeof(T), row_bytes);
  const Filling<T> filling(core, padding);
  Transfer(Pipe::MTE2, target, to.Span(), source, from.Span(), [=] {
    MoveRows(target + padding.left * sizeof(T), to, source, from);
    for (uint32_t row = 0; row < from.count; ++row)
      PadRow(reinterpret_cast<T*>(target + row * to.pitch), from.bytes / sizeof(T), padding, filling);
  });
}

template <class T>
void CopyPadOut(Loc loc, const GlobalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows, uint64_t row_bytes,
                uint64_t src_gap, uint64_t dst_gap) {
  if constexpr (kObserved) {
    if (row_bytes > kMaxPadRowBytes) {
      ThisCore().Refuse("pad-row-too-long", loc, {{"bytes", row_bytes}, {"limit", kMaxPadRowBytes}});
    }
  }
  CopyOut("DataCopyPad", loc, 1, dst, {rows, row_bytes, row_bytes + dst_gap, Extent::Form::Bytes}, src,
          {rows, row_bytes, WholeBlockBytes(row_bytes) + src_gap * kBlockBytes, Extent::Form::Padded}, false);
}

}  // namespace gn_twin

namespace AscendC {

// Copies rows of any number of bytes. In the Unified Buffer each row starts on a 32-byte block; padParams says how to
// fill the rest of its last block.
template <class T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& params,
                        const DataCopyPadExtParams<T>& padParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Padding padding{padParams.isPad, padParams.leftPadding, padParams.rightPadding, 0};
  __builtin_memcpy(&padding.bits, &padParams.paddingValue, sizeof(T));
  gn_twin::CopyPadIn(loc, dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride, padding);
}
template <class T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
                        const DataCopyPadParams& padParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CopyPadIn(loc, dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride,
                     {padParams.isPad, padParams.leftPadding, padParams.rightPadding, padParams.paddingValue});
}
template <class T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& params,
                        gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CopyPadOut(loc, dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride);
}
template <class T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
                        gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CopyPadOut(loc, dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride);
}

// Sets the value with which DataCopyPad fills the padding if isPad is false and there is left or right padding. A
// DataCopyPad with isPad replaces this value.
template <class T, TPosition pos = TPosition::MAX>
inline void SetPadValue(T value) {
  gn_twin::Core& core = gn_twin::ThisCore();
  core.pad_value = 0;
  __builtin_memcpy(&core.pad_value, &value, sizeof(T));
  core.pad_value_set = true;
}

}  // namespace AscendC
