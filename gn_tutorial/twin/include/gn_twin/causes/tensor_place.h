// Adds a cause to a finding about a tensor at a wrong place: a mistake with GetWithOffset, ReinterpretCast, an
// offset or a second TPipe.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

GNT_COLD inline void AddView(const char* cause, const MadeTensor& view, Loc used, FieldList& fields) {
  fields.Add({"cause", cause});
  fields.Add({"view_elements", view.elements});
  fields.Add({"view_offset", view.offset});
  fields.Add({"view_line", view.loc.line});
  if (view.loc.line == used.line && view.loc.file == used.file) return;  // no other place
  fields.Add({"view_file", view.loc.file});
  fields.Add({"view_op", "GetWithOffset"});
}

// For a tensor of GetWithOffset that does not fit: adds the cause if it would fit with both arguments exchanged.
// `wanted`: how many bytes of the tensor are used, from byte `offset` of the buffer on.
GNT_COLD inline void AddSwappedView(const Core& core, const MadeTensor& made, Loc used, int64_t offset,
                                    uint64_t element_bytes, uint64_t wanted, FieldList& fields) {
  if (made.offset != offset) return;
  const uint64_t bytes = made.offset * element_bytes;  // of the elements that were meant
  const uint64_t start = made.elements;
  if (start % kBlockBytes != 0 || bytes < wanted || bytes == 0 || start + bytes > core.buffers[made.buffer].bytes)
    return;
  AddView("view-swapped", made, used, fields);
}

// For a tensor that begins behind the end of its buffer: adds the cause if it would fit with the same number as an
// offset in bytes.
GNT_COLD inline void AddOffsetInBytes(uint64_t offset, uint64_t bytes, uint32_t element_bytes, uint64_t buffer_bytes,
                                      FieldList& fields) {
  const uint64_t meant = offset / element_bytes;
  if (fields.Has("cause") || element_bytes < 2 || offset < buffer_bytes || offset % element_bytes != 0) return;
  if (meant % kBlockBytes != 0 || meant + bytes > buffer_bytes) return;
  fields.Add({"cause", "offset-in-bytes"});
  fields.Add({"element", meant});
  fields.Add({"elements", buffer_bytes / element_bytes});
  fields.Add({"meant", meant / element_bytes});
}

// For a tensor of ReinterpretCast that is used beyond its end: adds the cause if as many elements of the original type
// would fit.
GNT_COLD inline void AddReinterpreted(const Core& core, const uint8_t* at, uint64_t element_bytes, uint64_t wanted,
                                      uint64_t room, FieldList& fields) {
  for (const WiderView& one : core.wider_views) {
    if (one.at != at || one.element_bytes != element_bytes || fields.Has("cause")) continue;
    const uint64_t elements = wanted / element_bytes;
    if (elements * one.was_bytes > room) continue;
    fields.Add({"cause", "reinterpreted"});
    fields.Add({"elements", elements});
    fields.Add({"element_bytes", element_bytes});
    fields.Add({"was_bytes", one.was_bytes});
  }
}

// For a tensor of GetWithOffset at a strange place: adds the cause if its offset would fit as a number of elements.
GNT_COLD inline void AddViewInElements(const Core& core, const MadeTensor& made, Loc used, int64_t offset,
                                       uint64_t element_bytes, uint64_t wanted, FieldList& fields) {
  if (made.offset != offset || fields.Has("cause") || offset == 0 || element_bytes == 1) return;
  const uint64_t meant = made.offset * element_bytes;
  if (meant % kBlockBytes != 0 || meant + wanted > core.buffers[made.buffer].bytes) return;
  AddView("view-in-elements", made, used, fields);
  fields.Add({"meant", meant});
}

// For `bytes` lost results from byte `at` of the Unified Buffer on, which `written` holds, and which an instruction at
// `used` overwrites through `now`: adds the cause if `now` begins inside them, and would begin behind them if its
// offset counted elements, or if both come from calls of Get for one TBuf.
GNT_COLD inline void AddLostView(const Core& core, const MadeTensor& written, const MadeTensor& now, Loc used,
                                 uint64_t at, uint64_t bytes, FieldList& fields) {
  if (now.elements == 0 || now.buffer >= core.buffer_count) return;
  const uint64_t offset = at - core.buffers[now.buffer].offset;
  const uint64_t element_bytes = (now.end - now.offset) / now.elements;
  if (offset * element_bytes == offset + bytes)
    AddViewInElements(core, now, used, offset, element_bytes, bytes, fields);
  const bool elsewhere = written.loc.line != now.loc.line || written.loc.file != now.loc.file;
  if (fields.Has("cause") || written.buffer != now.buffer || !elsewhere) return;  // the same Get, in a loop
  fields.Add({"cause", "same-bytes-of-a-buffer"});
  fields.Add({"first_op", written.op});
  fields.Add({"first_file", written.loc.file});
  fields.Add({"first_line", written.loc.line});
  fields.Add({"again_op", now.op});
  fields.Add({"again_file", now.loc.file});
  fields.Add({"again_line", now.loc.line});
}

// Adds the cause if two live TPipes have both handed out this byte of the Unified Buffer.
GNT_COLD inline void AddTwoPipes(const Core& core, uint64_t at, FieldList& fields) {
  const Buffer* older = nullptr;
  bool both = false;
  for (uint16_t i = 0; i < core.buffer_count && core.beside != 0; ++i) {
    const Buffer& one = core.buffers[i];
    if (at < one.offset || at >= uint64_t{one.offset} + one.bytes) continue;
    if (one.pipe == core.beside) older = &one;
    both = both || one.pipe == core.pipes;
  }
  if (older == nullptr || !both || fields.Has("cause")) return;
  fields.Add({"cause", "two-pipes"});
  fields.Add({"shared_file", older->made.file});
  fields.Add({"shared_line", older->made.line});
}

}  // namespace gn_twin
