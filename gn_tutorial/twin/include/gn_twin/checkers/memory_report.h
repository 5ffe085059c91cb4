// Writes the findings about the contents of the Unified Buffer as diagnostics. Each names the instruction, its place
// and the buffer.
#pragma once
#include "gn_twin/causes/tensor_place.h"
#include "gn_twin/causes/unwritten_bytes.h"
#include "gn_twin/core/emit.h"
#include "gn_twin/shadow/ub_state.h"

namespace gn_twin {

// Returns the buffer that a byte of the Unified Buffer lies in, or null.
inline const Buffer* BufferAt(const Core& core, uint64_t at) {
  for (uint16_t i = core.buffer_count; i > 0; --i) {  // the latest first: a TPipe may have been reset
    const Buffer& buffer = core.buffers[i - 1];
    if (at >= buffer.offset && at < uint64_t{buffer.offset} + buffer.bytes) return &buffer;
  }
  return nullptr;
}

// A use of memory without a value. origin: the instruction that first read that memory; used: the place where the
// missing value left the Unified Buffer.
struct MissingValue {
  Origin origin;
  Loc used;
  Buffer buffer;  // the buffer that the bytes lie in, if there is one
  MissedRead read;
  LastWrite gap;  // the write that left the bytes out, if there is one
};

GNT_COLD inline MissingValue MissingAt(const Core& core, const UbState& shadow, const Origin& origin, Loc used) {
  const Buffer* const found = BufferAt(core, origin.missing);
  const Buffer buffer = found != nullptr ? *found : Buffer{};
  const uint64_t end = found != nullptr ? uint64_t{buffer.offset} + buffer.bytes : kUbBytes;
  const MissedRead read{origin.missing, origin.reads_begin, origin.reads_end, origin.element_bytes, buffer.offset, end,
                        origin.loc,     origin.role,        origin.extent};
  return {origin, used, buffer, read, GapCause::Find(shadow, read)};
}

GNT_COLD inline void ReportMissing(Core& core, const MissingValue& missing) {
  const Origin& origin = missing.origin;
  const Buffer& buffer = missing.buffer;
  const Loc used = missing.used;
  const Loc other = used.line == origin.loc.line && used.file == origin.loc.file ? Loc{} : used;
  const Loc allocated = origin.stale ? buffer.allocated : Loc{};
  FieldList fields{{"op", origin.op},
                   {"role", origin.role},
                   {"address", origin.missing},
                   {"used_file", other.file},
                   {"used_line", other.line},
                   {"allocated_file", allocated.file},
                   {"allocated_line", allocated.line},
                   {"buffer_file", buffer.made.file},
                   {"buffer_line", buffer.made.line},
                   {"buffer_nth", buffer.nth}};
  GapCause::Explain(core, missing.read, missing.gap, fields);
  if (!fields.Has("cause")) AddNothingDone(core, buffer, missing.read, fields);
  if (!fields.Has("cause")) AddNotDequeued(core, buffer, fields);
  if (!fields.Has("cause")) missing.read.AddNumbers(fields);
  origin.stale ? core.Warn("ub-stale", origin.loc, used, fields)
               : core.Fault("ub-never-written", origin.loc, used, fields);
}

// Reports that `now` overwrites `bytes` bytes, from byte `at` on, of results that `writer` wrote and nobody has read.
GNT_COLD inline void ReportLost(Core& core, const Writer& now, const char* role, const Writer& writer, uint64_t at,
                                uint64_t bytes) {
  const Buffer* buffer = BufferAt(core, at);
  FieldList fields{{"op", now.op},
                   {"role", role},
                   {"writer", writer.op},
                   {"address", at},
                   {"bytes", bytes},
                   {"written_file", writer.loc.file},
                   {"written_line", writer.loc.line},
                   {"buffer_file", buffer != nullptr ? buffer->made.file : ""},
                   {"buffer_line", buffer != nullptr ? buffer->made.line : 0},
                   {"buffer_nth", buffer != nullptr ? buffer->nth : 0}};
  AddTwoPipes(core, at, fields);
  const MadeTensor *const before = core.MadeOf(writer.tensor), *const made = core.MadeOf(now.tensor);
  if (before != nullptr && made != nullptr) AddLostView(core, *before, *made, now.loc, at, bytes, fields);
  core.Warn("ub-overwritten-unread", now.loc, writer.loc, fields);
}

// Reports results that FreeTensor gave back before anybody had read them.
GNT_COLD inline void ReportFreed(Core& core, const UbState& shadow) {
  for (uint32_t i = 0; i < shadow.freed_unread_count; ++i) {
    const FreedUnread& one = shadow.freed_unread[i];
    core.Warn("ub-freed-unread", one.writer.loc, one.freed,
              {{"op", one.writer.op},
               {"bytes", uint64_t{one.writer.blocks} * kBlockBytes},
               {"freed_file", one.freed.file},
               {"freed_line", one.freed.line},
               {"buffer_file", one.buffer.made.file},
               {"buffer_line", one.buffer.made.line},
               {"buffer_nth", one.buffer.nth}});
  }
}

// Notes a scalar access of a tensor after FreeTensor, which is reported later.
GNT_COLD inline void ReportUsedAfterFree(Core& core, const ScalarAccess& access, uint64_t at) {
  const Buffer* buffer = BufferAt(core, at);
  if (buffer == nullptr) return;
  NoteUseAfterFree(core, access.Op(), "the tensor", static_cast<uint16_t>(buffer - core.buffers), access.Place());
}

}  // namespace gn_twin
