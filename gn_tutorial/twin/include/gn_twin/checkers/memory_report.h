// The findings about the contents of the Unified Buffer as diagnostics: where, who did it, whose buffer it is.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/shadow/ub_state.h"

namespace gn_twin {

// The buffer that a byte of the Unified Buffer lies in, or null.
inline const Buffer* BufferAt(const Core& core, uint64_t at) {
  for (uint16_t i = core.buffer_count; i > 0; --i) {  // the latest first: a pipe may have been reset
    const Buffer& buffer = core.buffers[i - 1];
    if (at >= buffer.offset && at < uint64_t{buffer.offset} + buffer.bytes) return &buffer;
  }
  return nullptr;
}

// A use of memory without a value: who is to blame is another place, if an instruction read it before.
GNT_COLD inline void ReportMissing(Core& core, const UbState& shadow, uint64_t missing, Loc used, const char* op,
                                   const char* role) {
  const Origin origin = shadow.OriginOf(missing, used, op, role);
  const Buffer* buffer = BufferAt(core, origin.missing);
  const Loc other = used.line == origin.loc.line && used.file == origin.loc.file ? Loc{} : used;
  const Loc made = buffer != nullptr ? buffer->made : Loc{};
  const Loc allocated = buffer != nullptr ? buffer->changed : Loc{};
  if (origin.stale) {
    core.Warn("ub-stale", origin.loc, used,
              {{"op", origin.op},
               {"role", origin.role},
               {"address", origin.missing},
               {"used_file", other.file},
               {"used_line", other.line},
               {"allocated_file", allocated.file},
               {"allocated_line", allocated.line},
               {"buffer_file", made.file},
               {"buffer_line", made.line}});
  } else {
    core.Fault("ub-never-written", origin.loc, used,
               {{"op", origin.op},
                {"role", origin.role},
                {"address", origin.missing},
                {"used_file", other.file},
                {"used_line", other.line},
                {"buffer_file", made.file},
                {"buffer_line", made.line}});
  }
}

// Results that `writer` left and nobody read, written over by `now`, from byte `at`.
GNT_COLD inline void ReportLost(Core& core, const Writer& now, const char* role, const Writer& writer, uint64_t at) {
  const Buffer* buffer = BufferAt(core, at);
  core.Warn("ub-overwritten-unread", now.loc, writer.loc,
            {{"op", now.op},
             {"role", role},
             {"writer", writer.op},
             {"address", at},
             {"bytes", uint64_t{writer.blocks} * kBlockBytes},
             {"written_file", writer.loc.file},
             {"written_line", writer.loc.line},
             {"buffer_file", buffer != nullptr ? buffer->made.file : ""},
             {"buffer_line", buffer != nullptr ? buffer->made.line : 0}});
}

// A scalar access of a tensor after FreeTensor.
GNT_COLD inline void ReportUsedAfterFree(Core& core, const ScalarAccess& access, uint64_t at) {
  const Buffer* buffer = BufferAt(core, at);
  if (buffer == nullptr) return;
  const char* op = access.access == Access::Read    ? "GetValue"
                   : access.access == Access::Write ? "SetValue"
                                                    : "operator()";
  core.Fault("ub-use-after-free", access.Place(), buffer->changed,
             {{"op", op},
              {"role", "the tensor"},
              {"buffer_file", buffer->made.file},
              {"buffer_line", buffer->made.line},
              {"freed_file", buffer->changed.file},
              {"freed_line", buffer->changed.line}});
}

}  // namespace gn_twin
