// Adds a cause to a finding about bytes without a value: the instruction or copy that left them out, and which of its
// numbers is wrong.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include <initializer_list>

#include "gn_twin/core/core.h"
#include "gn_twin/events/field_list.h"
#include "gn_twin/shadow/ub_state.h"

namespace gn_twin {

// A read that found no value at `missing`, in a buffer that begins at `buffer` (bytes of the Unified Buffer).
struct MissedRead {
  uint64_t missing;
  uint64_t reads_begin;
  uint64_t reads_end;  // one past the last byte that the instruction reads; 0 for the scalar unit, or if unknown
  uint32_t element_bytes;
  uint64_t buffer;
  uint64_t buffer_end;
  Loc by;             // the line that reads
  uint32_t rows = 0;  // a copy out reads `rows` rows of row_bytes bytes, which begin row_pitch bytes apart
  uint64_t row_bytes = 0;
  uint64_t row_pitch = 0;
};

class GapCause {
 public:
  // Returns the write that left the bytes out; its `end` is 0 if none is known.
  GNT_COLD static LastWrite Find(const UbState& shadow, const MissedRead& read) {
    for (const Itself itself : {Itself::Never, Itself::Elsewhere}) {
      const LastWrite other = Latest(shadow, read, itself);
      if (other.order != 0) return other;
    }
    const LastWrite load = LoadBefore(shadow, read);
    return load.end != 0 ? load : Latest(shadow, read, Itself::Only);
  }

  // Adds the cause to the facts of a finding, if `write` explains it.
  GNT_COLD static void Explain(const Core& core, const MissedRead& read, const LastWrite& write, FieldList& fields) {
    if (write.end == 0) return;
    if (IsItself(read, write)) {
      fields.Add({"cause", "own-result"});
      fields.Add({"gap_op", write.op});
      fields.Add({"gap_line", write.loc.line});
      return;
    }
    if (write.strided) return Strides(core, read, write, fields);
    if (!write.copy && write.row_bytes != 0 && write.rows > 1 && write.row_pitch != write.row_bytes) {
      Name("result-stride", write, fields);
      fields.Add({"results", write.rows});
      fields.Add({"result_bytes", write.row_bytes});
      fields.Add({"pitch", write.row_pitch});
      return;
    }
    if (read.missing >= write.end && write.IsOneRun()) Short(read, write, fields);
  }

 private:
  // Which writes of the reader's own line count. Never: none, because a write in place hides what others left out.
  // Elsewhere: those that begin at another byte than the missing one. Only: only a write that begins at the missing
  // byte.
  enum class Itself { Never, Elsewhere, Only };

  // Whether an instruction reads bytes that only it writes, for example a sum that nobody has set to 0. The missing
  // byte is then the first byte of its result. If the first bytes of the result had values, another instruction wrote
  // too few bytes, and this instruction has hidden which one it was.
  static bool IsItself(const MissedRead& read, const LastWrite& write) {
    return IsOfItsLine(read, write) && write.begin == read.missing;
  }
  static bool IsOfItsLine(const MissedRead& read, const LastWrite& write) {
    return !write.copy && write.loc.line == read.by.line && write.loc.file == read.by.file;
  }

  // Returns the latest write that may have left the bytes out; its `order` is 0 without one.
  GNT_COLD static LastWrite Latest(const UbState& shadow, const MissedRead& read, Itself itself) {
    LastWrite found;
    bool covers = false;
    shadow.writes.ForBuffer(read.buffer / kBlockBytes, read.buffer_end, [&](const LastWrite& write) {
      if (IsItself(read, write) != (itself == Itself::Only)) return;
      if (itself == Itself::Never && IsOfItsLine(read, write)) return;
      if (write.begin > read.missing || (read.reads_end != 0 && write.begin >= read.reads_end)) return;
      const bool over = read.missing < write.end;
      if (!over && !EndsAt(write, read.missing)) return;
      if (found.order != 0 && (covers > over || (covers == over && found.order > write.order))) return;
      found = write;
      covers = over;
    });
    return found;
  }

  // Whether the write ends at the missing byte; a copy ends with a whole block.
  static bool EndsAt(const LastWrite& write, uint64_t missing) {
    const uint64_t end = write.copy ? (write.end + kBlockBytes - 1) / kBlockBytes * kBlockBytes : write.end;
    return missing == end;
  }

  // Returns the fast copy that ends at the missing byte, if there is one. A fast copy is recorded only as the writer of
  // its first block.
  static LastWrite LoadBefore(const UbState& shadow, const MissedRead& read) {
    LastWrite load;
    if (read.missing % kBlockBytes != 0 || read.missing == read.buffer) return load;
    const uint64_t first = shadow.starts.LastUpTo(read.missing / kBlockBytes - 1);
    const uint64_t begin = first * kBlockBytes;
    const Writer& writer = shadow.writers[first < UbState::kBlocks ? first : 0];
    if (begin < read.buffer || begin >= read.missing || !writer.load || !shadow.bytes.HasAll(begin, 1)) return load;
    if (begin + uint64_t{writer.blocks} * kBlockBytes != read.missing) return load;
    load.loc = writer.loc;
    load.op = writer.op;
    load.begin = static_cast<uint32_t>(begin);
    load.end = static_cast<uint32_t>(read.missing);
    load.element_bytes = 0;
    load.copy = true;
    load.moved = writer.call != 0 ? ~writer.call : 0;
    return load;
  }

  static void Strides(const Core& core, const MissedRead& read, const LastWrite& write, FieldList& fields) {
    const uint32_t blocks = (write.lanes * write.element_bytes + kBlockBytes - 1) / kBlockBytes;
    const MaskFrom* const left = core.MaskOf(write.loc);
    if (write.rep_stride == 1 && write.repeats > 1 && blocks > 1 && write.blk_stride == blocks) {
      Name("block-repeat-exchanged", write, fields);
    } else if (write.rep_stride == 0 && write.repeats > 1) {
      Name("repeat-stride-0", write, fields);
    } else if (write.blk_stride == 0 && blocks > 1) {
      Name("block-stride-0", write, fields);
    } else if (read.missing >= write.end) {
      return Short(read, write, fields);
    } else if (left != nullptr && left->op[0] != '\0' && write.lanes < write.per_repeat) {
      Name("mask-left-over", write, fields);
      fields.Add({"mask_op", left->op});
      fields.Add({"mask_file", left->set.file});
      fields.Add({"mask_line", left->set.line});
    } else {
      Name("lanes-left-out", write, fields);
    }
    fields.Add({"repeats", write.repeats});
    fields.Add({"lanes", write.lanes});
    fields.Add({"per_repeat", write.per_repeat});
    fields.Add({"lane_bytes", write.lanes * write.element_bytes});
    fields.Add({"blk_stride", write.blk_stride});
    fields.Add({"rep_stride", write.rep_stride});
    fields.Add({"rep_bytes", write.rep_stride * kBlockBytes});
    fields.Add({"blocks", blocks});
  }

  // Adds the cause for a write of fewer bytes than are read. If the length of a DataCopyPad, which counts bytes, equals
  // the number of elements, the kernel gave it in elements.
  static void Short(const MissedRead& read, const LastWrite& write, FieldList& fields) {
    const bool next_only = read.reads_end == 0 || read.reads_end == write.end + read.element_bytes;
    if (next_only && read.missing == write.end && IsExtreme(write.op)) {
      Name("no-index", write, fields);
      fields.Add({"ask", write.op[0] == 'W' ? "order = ReduceOrder::ORDER_VALUE_INDEX" : "calIndex = true"});
      return;
    }
    if (read.reads_end == 0) return Behind(read, write, fields);
    if (read.reads_end <= read.missing || read.element_bytes == 0) return;
    if (BeginsElsewhere(read, write, fields)) return;
    const uint32_t wrote = write.end - write.begin;
    const uint32_t reads = static_cast<uint32_t>(read.reads_end - write.begin) / read.element_bytes;
    const uint32_t whole = (reads + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    const uint64_t read_bytes = read.reads_end - write.begin;
    if (write.copy && read_bytes > wrote && (read_bytes - wrote) % (1 << 16) == 0) {
      Name("length-wraps", write, fields);
      fields.Add({"wrote_bytes", wrote});
      fields.Add({"read_bytes", read_bytes});
      fields.Add({"lost", read_bytes - wrote});
      return;
    }
    if (IsOneOf(write.op, {"Compare", "CompareScalar", "Compares"}) && reads >= 8 * wrote) {
      Name("mask-bits", write, fields);
      fields.Add({"wrote_bytes", wrote});
      fields.Add({"read_elements", reads});
      return;
    }
    if (IsOneOf(write.op, {"MrgSort"})) {
      Name("merge-suspended", write, fields);
      fields.Add({"pairs", wrote / 8});
      fields.Add({"read_pairs", read_bytes / 8});
      return;
    }
    if (read.rows > 1 && read.row_bytes < read.row_pitch && wrote == read.rows * read.row_bytes) {
      Name("rows-taken-apart", write, fields);
      fields.Add({"rows", read.rows});
      fields.Add({"row_bytes", read.row_bytes});
      fields.Add({"pitch", read.row_pitch});
      return;
    }
    const bool pad = write.copy && __builtin_strcmp(write.op, "DataCopyPad") == 0;
    if (pad && IsRowInElements(write, read_bytes, read.element_bytes)) {
      Name("pad-row-length", write, fields);
      fields.Add({"row_bytes", write.moved});
      return;
    }
    Name(pad && read.element_bytes > 1 && whole == wrote ? "pad-length" : "short-write", write, fields);
    fields.Add({"wrote_bytes", wrote});
    fields.Add({"wrote_elements", wrote / read.element_bytes});
    fields.Add({"read_elements", reads});
    fields.Add({"read_element_bytes", read.element_bytes});
  }

  // Adds the cause if as many bytes were written as are read, but from another element on.
  static bool BeginsElsewhere(const MissedRead& read, const LastWrite& write, FieldList& fields) {
    const uint64_t bytes = read.reads_end - read.reads_begin;
    if (read.reads_begin == write.begin || bytes != write.end - write.begin || bytes % read.element_bytes != 0)
      return false;
    Name("begins-elsewhere", write, fields);
    fields.Add({"elements", bytes / read.element_bytes});
    fields.Add({"wrote_from", (write.begin - read.buffer) / read.element_bytes});
    fields.Add({"reads_from", (read.reads_begin - read.buffer) / read.element_bytes});
    return true;
  }

  // Whether the length of a row, which counts bytes, was given in elements. Then a read of `bytes` bytes from the first
  // row on ends where a row of that many elements would end, if all rows had that length.
  static bool IsRowInElements(const LastWrite& write, uint64_t bytes, uint32_t element_bytes) {
    const uint64_t came = (write.moved + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    if (element_bytes == 1 || came == 0 || write.end - write.begin < 2 * came) return false;
    const uint64_t row = uint64_t{write.moved} * element_bytes;
    const uint64_t pitch = (row + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    return bytes % pitch == row % pitch;
  }

  // Adds the cause for an element that the scalar unit reads behind those that were written.
  static void Behind(const MissedRead& read, const LastWrite& write, FieldList& fields) {
    const uint64_t at = read.missing - write.begin;
    if (read.element_bytes == 0 || at % read.element_bytes != 0) return;
    Name("index-behind", write, fields);
    fields.Add({"wrote_elements", (write.end - write.begin) / read.element_bytes});
    fields.Add({"index", at / read.element_bytes});
  }

  // Whether `op` is a reduction that can also write the index of the value, behind the value.
  static bool IsExtreme(const char* op) {
    return IsOneOf(op, {"ReduceMax", "ReduceMin", "WholeReduceMax", "WholeReduceMin"});
  }
  static bool IsOneOf(const char* op, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (__builtin_strcmp(op, name) == 0) return true;
    return false;
  }

  static void Name(const char* cause, const LastWrite& write, FieldList& fields) {
    fields.Add({"cause", cause});
    fields.Add({"gap_op", write.op});
    fields.Add({"gap_file", write.loc.file});
    fields.Add({"gap_line", write.loc.line});
  }
};

// Adds the cause if an instruction that should have written into the buffer had no repeats.
GNT_COLD inline void AddNoRepeats(const Core& core, const Buffer& buffer, FieldList& fields) {
  for (const NoRepeats& one : core.no_repeats) {
    if (one.buffer >= core.buffer_count) continue;
    const Buffer& of = core.buffers[one.buffer];
    if (of.offset != buffer.offset || of.made.line != buffer.made.line) continue;
    fields.Add({"cause", "no-repeats"});
    fields.Add({"gap_op", one.op});
    fields.Add({"gap_file", one.loc.file});
    fields.Add({"gap_line", one.loc.line});
    return;
  }
}

// Adds the cause if a tensor from AllocTensor is read as if it came from DeQue, while the enqueued one still waits in
// the queue.
GNT_COLD inline void AddNotDequeued(const Core& core, const Buffer& buffer, FieldList& fields) {
  if (!buffer.of_queue || buffer.forward != AscendC::HardEvent::MTE2_V || buffer.allocated.line == 0) return;
  for (uint16_t i = 0; i < core.buffer_count; ++i) {
    const Buffer& one = core.buffers[i];
    const bool same = one.made.line == buffer.made.line && one.made.file == buffer.made.file && one.nth == buffer.nth;
    if (!same || one.offset == buffer.offset || one.state != BufferState::EnQueued) continue;
    fields.Add({"cause", "alloc-for-deque"});
    fields.Add({"alloc_op", "AllocTensor"});
    fields.Add({"alloc_file", buffer.allocated.file});
    fields.Add({"alloc_line", buffer.allocated.line});
    fields.Add({"enqueued_line", one.changed.line});
    return;
  }
}

}  // namespace gn_twin
