// Adds a cause to a race of stores to global memory: the mistake in the kernel's arithmetic that makes them overlap.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/shadow/race_state.h"

namespace gn_twin {

// The argument that an address lies in, and the offset from its start.
struct InArgument {
  const char* name;
  int64_t offset;
  uint64_t element_bytes = 0;  // of the array; 0: not known

  InArgument(const Core& core, uintptr_t at) {
    const uint8_t* const address = reinterpret_cast<const uint8_t*>(at);
    const GntArg* const argument = ArgumentAt(core, address);
    name = NameOf(argument);
    offset = argument != nullptr ? address - argument->data : 0;
    element_bytes = argument != nullptr ? argument->element_bytes : 0;
  }
};

// For two stores with DataCopy that share less than one block of 32 bytes, from `at` on: adds the cause that their
// lengths were rounded up to whole blocks.
GNT_COLD inline void AddRounded(const Site& site, const RowSet& rows, const Site& other, const RowSet& others,
                                uintptr_t at, FieldList& fields) {
  if (__builtin_strcmp(site.op, "DataCopy") != 0 || __builtin_strcmp(other.op, "DataCopy") != 0) return;
  if (rows.count != 1 || others.count != 1) return;
  const uintptr_t end = rows.End() < others.End() ? rows.End() : others.End();
  if (end > at && end - at < kBlockBytes) fields.Add({"cause", "rounded-stores"});
}

// For two blocks that store with the same line, from different addresses on: adds where the parts of both begin, and
// where the first ends.
GNT_COLD inline void AddParts(const SharedRun& run, const SharedRun& other, const Core& core, FieldList& fields) {
  if (fields.Has("cause") || run.site != other.site || run.begins == other.begins) return;
  const bool later = run.begins > other.begins;
  const SharedRun& first = later ? other : run;
  const SharedRun& second = later ? run : other;
  const InArgument place(core, first.begins);
  const int64_t begins = place.offset;
  const uint64_t apart = second.begins - first.begins, bytes = first.rows.End() - first.begins;
  const bool in_bytes = place.element_bytes > 1 && apart > kBlockBytes && apart * place.element_bytes == bytes;
  fields.Add({"cause", in_bytes ? "parts-in-bytes" : "parts-overlap"});
  fields.Add({"element_bytes", place.element_bytes});
  fields.Add({"first_block", first.block});
  fields.Add({"first_begins", begins});
  fields.Add({"first_ends", begins + static_cast<int64_t>(bytes)});
  fields.Add({"second_block", second.block});
  fields.Add({"second_begins", begins + static_cast<int64_t>(apart)});
}

// Lines whose stores overwrite instead of adding, because a line before them has ended the atomic mode.
struct EndedAdditions {
  static constexpr uint32_t kMost = 8;
  struct Ended {
    uint32_t site;
    const char* op;
    Loc by;
  };
  Ended all[kMost];
  uint32_t count = 0;

  GNT_COLD void Note(uint32_t site, Loc store, const Core& core) {
    const Loc by = core.atomic_set;
    if (core.atomic != 0 || by.file != store.file || by.line >= store.line) return;
    for (uint32_t i = 0; i < count; ++i)
      if (all[i].site == site) return;
    if (count < kMost) all[count++] = {site, core.atomic_op, by};
  }
  // Adds the cause if both blocks store with such a line.
  GNT_COLD void Add(const SharedRun& run, const SharedRun& other, FieldList& fields) const {
    if (fields.Has("cause") || run.site != other.site) return;
    for (uint32_t i = 0; i < count; ++i) {
      if (all[i].site != run.site) continue;
      fields.Add({"cause", "atomic-off"});
      fields.Add({"off_op", all[i].op});
      fields.Add({"off_file", all[i].by.file});
      fields.Add({"off_line", all[i].by.line});
    }
  }
};

}  // namespace gn_twin
