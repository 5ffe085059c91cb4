// Emits copies between global memory and the Unified Buffer.
//
// A copy is a fast event (events/fast_events.h) if it is not atomic, has at most kMaxRows rows and contiguous bytes in
// the Unified Buffer, and its operands fit. Observers then get its numbers instead of an event. A launch without a call
// cache, such as a traced one, has no fast events.
#pragma once
#include "gn_twin/tensor/operand.h"

namespace gn_twin {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;

inline constexpr uint32_t kMaxRows = 4095;

// Rows of `bytes` bytes, with `pitch` bytes from the start of one row to the start of the next. The last row lacks its
// last `behind` bytes. `made`: which parameters of the call give them.
struct Rows {
  uint32_t count = 0;
  uint16_t behind = 0;  // less than two blocks (BytesBehind)
  Extent::Form made = Extent::Form::Unknown;
  uint64_t bytes = 0;
  uint64_t pitch = 0;

  Rows() = default;
  Rows(uint32_t count, uint64_t bytes, uint64_t pitch, Extent::Form made = Extent::Form::Unknown)
      : count(count), made(made), bytes(bytes), pitch(pitch) {}
  uint64_t Span() const { return BytesOfRows(count, bytes, pitch) - behind; }
  Rows Without(uint32_t end) const {
    Rows rows = *this;
    count == 1 ? rows.bytes -= end : rows.behind = static_cast<uint16_t>(end);
    return rows;
  }
};

// Returns the parameters of the call that make the rows.
inline Extent ExtentOf(const Rows& rows, uint32_t element_bytes) {
  return Extent::OfRows(rows.made, element_bytes, rows.count, rows.bytes, rows.pitch, rows.bytes);
}

// Returns how many bytes of a DataCopy lie after the end of the kernel argument, but inside its allocation: aclrtMalloc
// rounds sizes up to 32 bytes and adds 32, so that copies may be rounded up to whole blocks (docs of CANN 8.0,
// aclcppdevg_03_0095). The twin does not copy these bytes, because it never reads or writes an array's neighbours. It
// warns if the copy writes them, or if they are a whole block or more. Returns 0 if there are none, if the argument has
// no byte of the last row, or if GlobalTensor::Behind returns 0 (the copy reaches beyond the allocation, for example).
template <class T>
GNT_COLD uint32_t BytesBehind(const char* op, Loc loc, const GlobalTensor<T>& global, const Rows& far, bool writes) {
  const uint64_t behind = global.Behind(far.Span());
  if (behind == 0 || behind >= far.bytes) return 0;
  if (writes || behind >= kBlockBytes) {
    const GntArg& argument = *global.Argument();
    ThisCore().Warn("gm-behind-end", loc, {},
                    {{"op", op},
                     {"does", writes ? "writes" : "reads"},
                     {"argument", NameOf(&argument)},
                     {"argument_bytes", argument.bytes},
                     {"bytes", behind},
                     {"element_bytes", sizeof(T)}});
  }
  return static_cast<uint32_t>(behind);
}

// Emits a copy of `pipe` (MTE2, MTE3). `align`: the alignment of the global address. emit_checked() checks the operands
// and emits the whole event; it is called if the copy is not a fast event, or if observers need the event.
template <class T, class EmitChecked>
void EmitCopy(const char* op, Loc loc, Pipe pipe, const LocalTensor<T>& local, Rows near, const GlobalTensor<T>& global,
              Rows far, uint32_t align, EmitChecked emit_checked) {
  Core& core = ThisCore();
  core.At(loc);
  if (pipe == Pipe::MTE3) core.nans.AtLeast(NanOrigins::Once);  // sums and products may have overflowed
  core.LookForNan();
  const uint8_t* const there = reinterpret_cast<const uint8_t*>(global.Data());
  if (pipe == Pipe::MTE2) NoteGlobalRead(core, op, there, loc);
  const bool one_run = near.count == 1 || near.pitch == near.bytes;
  const uint64_t bytes = near.count * near.bytes;
  const bool fast = core.cached != nullptr && core.atomic == 0 && one_run && bytes != 0 && far.count <= kMaxRows &&
                    reinterpret_cast<uintptr_t>(there) % align == 0 && Fits(core, local, bytes) &&
                    global.Holds(far.Span());
  if (!fast ||
      !core.FlushedCache().OnCopy(core, {op, loc, pipe, sizeof(T), static_cast<uint32_t>(core.UbOffset(local.Bytes())),
                                         static_cast<uint32_t>(bytes), there, far.count, far.bytes, far.pitch,
                                         static_cast<uint16_t>(local.Number())}))
    emit_checked();
  if (pipe == Pipe::MTE3) NoteGlobalStore(core, op, there, far.Span(), loc);
}

}  // namespace gn_twin
