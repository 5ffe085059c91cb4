// Adds a cause to a finding about an output that was not written completely: the length, offset or store that left
// elements out.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/shadow/watched_output.h"

namespace gn_twin {

// Adds the cause if an offset has too few bits and has begun again at 0. Then all elements before the first missing one
// were written, none behind it, and the first elements were written twice. If each block wrote the first elements once,
// the blocks' offset is missing instead. The last store before the wrap may end beyond the largest offset; then as many
// bytes were stored as the array has.
GNT_COLD inline void AddWraps(const Core& core, const WatchedOutput& watched, uint64_t first, bool all_behind,
                              FieldList& fields) {
  if (!all_behind) return;
  const uint32_t blocks = core.job->blocks;
  const bool again = watched.again || (watched.starts >= 2 && watched.starts != blocks);
  const uint32_t element = watched.ElementBytes();
  for (const uint32_t bits : {8u, 16u}) {
    const uint64_t numbers = uint64_t{1} << bits;
    if (2 * watched.longest > numbers * element) continue;  // fewer than two stores of this length fit before the wrap
    const bool behind = first > numbers && (first - numbers) * element < watched.longest;
    if (!(first == numbers && again) && !(behind && watched.stored == watched.arg->bytes)) continue;
    fields.Add({"cause", "offset-wraps"});
    fields.Add({"bits", bits});
    fields.Add({"wrapped", first - numbers});
  }
}

// Adds the cause of an output that was not written completely: `missing` bytes are missing, the first at byte `first`.
GNT_COLD inline void AddUnwrittenOutput(const Core& core, const WatchedOutput& watched, uint64_t missing,
                                        uint64_t first, FieldList& fields) {
  const uint32_t element = watched.ElementBytes();
  const uint64_t written = watched.arg->bytes - missing;
  if (!fields.Has("cause")) AddWraps(core, watched, first / element, missing == watched.arg->bytes - first, fields);
  if (watched.empty.line != 0 && !fields.Has("cause")) {
    fields.Add({"cause", "empty-store"});
    fields.Add({"empty_op", watched.empty_op});
    fields.Add({"empty_file", watched.empty.file});
    fields.Add({"empty_line", watched.empty.line});
  }
  // Enough bytes for the whole array were stored, but into half of it or less: the stores lack the offset of a block or
  // of a tile.
  if (!fields.Has("cause") && !watched.atomic && watched.stored >= watched.arg->bytes &&
      watched.stored >= 2 * written) {
    fields.Add({"cause", "stored-over"});
    fields.Add({"stored", watched.stored / element});
    fields.Add({"written", written / element});
  }
}

}  // namespace gn_twin
