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
  Loc by;  // the line that reads
  const char* role;
  Extent extent;

  void AddNumbers(FieldList& fields) const {
    if (extent.form != Extent::Form::Unknown) fields.Add(Field::Fits("extent", role, extent, missing - reads_begin));
  }
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
    if (write.one_run && read.missing < write.end) return;
    if (Intent(core, read, write, fields)) return;
    const uint64_t reads_end = read.reads_end == 0 ? read.missing + read.element_bytes : read.reads_end;
    if (reads_end <= read.missing || read.element_bytes == 0) return;
    const uint64_t reads_begin = read.reads_end == 0 ? read.missing : read.reads_begin;
    Name("left-out", write, fields);
    fields.Add({"wrote_from", (write.begin - read.buffer) / read.element_bytes});
    fields.Add({"wrote_to", (write.end - read.buffer - 1) / read.element_bytes});
    fields.Add({"reads_from", (reads_begin - read.buffer) / read.element_bytes});
    fields.Add({"reads_to", (reads_end - read.buffer - 1) / read.element_bytes});
    // A read that begins elsewhere, of single elements or of rows that lie apart, does not say how long the write should be.
    const bool rows = read.extent.form == Extent::Form::Padded && read.extent.value[0] > 1;
    const bool same = read.reads_end != 0 && reads_begin == write.begin && !rows;
    if (write.extent.form != Extent::Form::Unknown)
      fields.Add(Field::Needs("gap_extent", "dst", write.extent, same ? reads_end - write.begin : 0));
    read.AddNumbers(fields);
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
    const uint64_t end = write.copy ? WholeBlockBytes(write.end) : write.end;
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
    load.copy = load.one_run = true;
    // For a load `call` has the bytes of a row. Only DataCopyPad gives them as such.
    const uint64_t row = WholeBlockBytes(~writer.call);
    if (writer.call != 0 && row != 0 && __builtin_strcmp(writer.op, "DataCopyPad") == 0)
      load.extent = Extent::OfRows(Extent::Form::Padded, 1, (read.missing - begin) / row, row, row, ~writer.call);
    return load;
  }

  // Adds the cause, if the kernel meant something that no number of the write shows: a mask that is still set, an index
  // that was not asked for, a result that has bits or fewer pairs.
  GNT_COLD static bool Intent(const Core& core, const MissedRead& read, const LastWrite& write, FieldList& fields) {
    if (read.missing < write.end) {
      const MaskFrom* const left = core.MaskOf(write.loc);
      if (left == nullptr || left->op[0] == '\0' || write.lanes >= write.per_repeat) return false;
      Name("mask-left-over", write, fields);
      fields.Add({"mask_op", left->op});
      fields.Add({"mask_file", left->set.file});
      fields.Add({"mask_line", left->set.line});
      fields.Add({"lanes", write.lanes});
      fields.Add({"per_repeat", write.per_repeat});
      return true;
    }
    const bool next_only = read.reads_end == 0 || read.reads_end == write.end + read.element_bytes;
    if (next_only && read.missing == write.end && IsExtreme(write.op)) {
      Name("no-index", write, fields);
      fields.Add({"ask", write.op[0] == 'W' ? "order = ReduceOrder::ORDER_VALUE_INDEX" : "calIndex = true"});
      return true;
    }
    const uint64_t wrote = write.end - write.begin, reads = read.reads_end - write.begin;
    if (read.reads_end <= read.missing || read.element_bytes == 0) return false;
    if (IsOneOf(write.op, {"Compare", "CompareScalar", "Compares"}) && reads / read.element_bytes >= 8 * wrote) {
      Name("mask-bits", write, fields);
      fields.Add({"wrote_bytes", wrote});
      fields.Add({"read_elements", reads / read.element_bytes});
      return true;
    }
    if (IsOneOf(write.op, {"MrgSort"})) {
      Name("merge-suspended", write, fields);
      fields.Add({"pairs", wrote / Extent::kPairBytes});
      fields.Add({"read_pairs", reads / Extent::kPairBytes});
      return true;
    }
    return false;
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

// Adds the cause if an instruction or copy that should have written into the buffer had nothing to do.
GNT_COLD inline void AddNothingDone(const Core& core, const Buffer& buffer, const MissedRead& read, FieldList& fields) {
  for (const NothingDone& one : core.nothing_done) {
    if (one.buffer >= core.buffer_count) continue;
    const Buffer& of = core.buffers[one.buffer];
    if (of.offset != buffer.offset || of.made.line != buffer.made.line) continue;
    fields.Add({"cause", "nothing-done"});
    fields.Add({"gap_op", one.op});
    fields.Add({"gap_file", one.loc.file});
    fields.Add({"gap_line", one.loc.line});
    if (one.made.form != Extent::Form::Unknown && read.reads_end != 0)
      fields.Add(Field::Needs("gap_extent", "dst", one.made, read.reads_end - read.reads_begin));
    read.AddNumbers(fields);
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
