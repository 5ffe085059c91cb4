// Emits the padding that a copy puts around its rows. The copy itself is emitted before.
#pragma once
#include "gn_twin/tensor/emit_copy.h"

namespace gn_twin {

// Emits the padding of a copy. `to`: the rows with their padding. In each row, the `row_bytes` bytes after the first
// `left` come from global memory; the others are padding.
template <class T>
GNT_NOINLINE void EmitPadding(const char* op, Loc loc, const LocalTensor<T>& dst, const Rows& to, uint64_t left,
                              uint64_t row_bytes) {
  Core& core = ThisCore();
  if (!core.observers->Wants(Kind::Padding)) return;
  Event event;
  event.kind = Kind::Padding;
  event.pipe = Pipe::MTE2;
  event.op = op;
  event.loc = loc;
  const auto add = [&](uint64_t from, uint64_t bytes) {
    if (bytes == 0) return;
    Operand& operand = event.operand[event.operands++] = Operand{};
    operand.role = "dst";
    operand.at = dst.Bytes() + from;
    operand.bytes = (to.count - 1) * to.pitch + bytes;
    operand.access = Access::Write;
    operand.element_bytes = sizeof(T);
    operand.rows = to.count;
    operand.row_bytes = bytes;
    operand.row_pitch = to.pitch;
  };
  add(0, left);
  add(left + row_bytes, to.bytes - left - row_bytes);
  core.Emit(event);
}

}  // namespace gn_twin
