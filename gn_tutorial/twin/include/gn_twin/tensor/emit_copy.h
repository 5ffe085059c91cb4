// Emit of copies between global memory and the Unified Buffer.
//
// A copy of one run of bytes in the Unified Buffer that overwrites is a fast event (events/fast_events.h): observers get its numbers in
// place of an event, where no operand has to be refused.
#pragma once
#include "gn_twin/tensor/operand.h"

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

// Emits a copy of `pipe` (MTE2, MTE3). `align`: what the global address must be a multiple of. emit_checked() checks the operands and
// emits the whole event: called where the copy is no fast event, or where observers ask for it.
template <class T, class EmitChecked>
void EmitCopy(const char* op, Loc loc, Pipe pipe, const LocalTensor<T>& local, Rows near, const GlobalTensor<T>& global,
              Rows far, uint32_t align, EmitChecked emit_checked) {
  Core& core = ThisCore();
  core.At(loc);
  const uint8_t* const there = reinterpret_cast<const uint8_t*>(global.Data());
  const bool one_run = near.count == 1 || near.pitch == near.bytes;
  const uint64_t bytes = near.count * near.bytes;
  const bool fast = core.cached != nullptr && core.atomic == 0 && one_run && bytes != 0 && far.count <= kMaxRows &&
                    reinterpret_cast<uintptr_t>(there) % align == 0 && Fits(core, local, bytes) &&
                    global.Holds(far.Extent());
  if (!fast ||
      !core.FlushedCache().OnCopy(core, {op, loc, pipe, sizeof(T), static_cast<uint32_t>(core.UbOffset(local.Bytes())),
                                         static_cast<uint32_t>(bytes), there, far.count, far.bytes, far.pitch}))
    emit_checked();
}

}  // namespace gn_twin
