// The findings of the race checker as diagnostics: the two accesses, where they collide, and which flag would have put them in order.
#pragma once
#include "gn_twin/core/emit.h"
#include "gn_twin/core/own_flags.h"
#include "gn_twin/events/hard_event.h"
#include "gn_twin/shadow/race_state.h"
#include "gn_twin/shadow/ub_state.h"

namespace gn_twin {

// Where an address lies in the argument that holds it.
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

// What the queue of a buffer, or that there is none, has to do with a flag that is missing between a writer and a reader, or back.
GNT_COLD inline void AddQueue(const Buffer& buffer, AscendC::HardEvent flag, FieldList& fields) {
  using AscendC::HardEvent;
  if (flag == HardEvent::MTE2_MTE3 && buffer.of_queue &&
      (buffer.forward == HardEvent::MTE2_V || buffer.forward == HardEvent::V_MTE3)) {
    fields.Add({"cause", "queue-of-one-side"});
    fields.Add({"position", buffer.forward == HardEvent::MTE2_V ? "VECIN" : "VECOUT"});
    fields.Add({"has", NameOf(buffer.forward)});
    return;
  }
  const bool queue = buffer.of_queue;
  const bool back = flag == HardEvent::MTE3_V || flag == HardEvent::V_MTE2;  // FreeTensor and AllocTensor have these
  if (flag != HardEvent::MTE2_V && flag != HardEvent::V_MTE3 && !(back && !queue)) return;
  const bool inputs = queue && buffer.forward == HardEvent::MTE2_V && flag == HardEvent::V_MTE3;
  const bool outputs = queue && buffer.forward == HardEvent::V_MTE3 && flag == HardEvent::MTE2_V;
  const bool fits = queue && buffer.forward == flag;
  const char* const cause = !queue                                          ? "no-queue"
                            : inputs                                        ? "queue-of-inputs"
                            : outputs                                       ? "queue-of-outputs"
                            : fits && buffer.state == BufferState::Occupied ? "not-enqueued"
                            : fits && buffer.state == BufferState::EnQueued ? "not-dequeued"
                                                                            : "";
  if (cause[0] == '\0') return;
  fields.Add({"cause", cause});
  fields.Add({"changed_line", buffer.changed.line});
}

// A flag of the event that is missing, if the kernel has set one behind the other access and nobody has waited for it yet.
GNT_COLD inline void AddOtherFlag(const Core& core, AscendC::HardEvent flag, Loc other, FieldList& fields) {
  if (flag >= AscendC::HardEvent::MAX) return;
  AddOwnFlag(core, flag, "other-flag", fields,
             [&](Loc set) { return set.file == other.file && set.line >= other.line; });
}

// overwritten: what the instruction overwrites before anybody has read it, or null.
GNT_COLD inline void ReportLocal(Core& core, const Sites& sites, const Site& site, Pipe pipe, bool writes,
                                 const Earlier& earlier, const Overwritten* overwritten = nullptr) {
  Buffer buffer;
  for (uint32_t i = core.buffer_count; i-- > 0 && buffer.bytes == 0;) {
    const Buffer& one = core.buffers[i];
    if (earlier.at >= one.offset && earlier.at < one.offset + one.bytes) buffer = one;
  }
  const Site& other = sites.At(SiteOf(earlier.stamp));
  const char* const hazard = !writes         ? "race-read-after-write"
                             : earlier.wrote ? "race-write-after-write"
                                             : "race-write-after-read";
  const AscendC::HardEvent flag = EventBetween(earlier.pipe, pipe);
  FieldList fields{{"op", site.op},
                   {"pipe", NameOf(pipe)},
                   {"offset", earlier.at - buffer.offset},
                   {"memory", "the Unified Buffer"},
                   {"flag", NameOf(flag)},
                   {"other_op", other.op},
                   {"other_pipe", NameOf(earlier.pipe)},
                   {"other_file", other.loc.file},
                   {"other_line", other.loc.line},
                   {"buffer_file", buffer.made.file},
                   {"buffer_line", buffer.made.line},
                   {"buffer_nth", buffer.nth}};
  AddTwoPipes(core, earlier.at, fields);
  if (pipe != earlier.pipe && !fields.Has("cause")) AddOtherFlag(core, flag, other.loc, fields);
  if (!(writes && earlier.wrote) && buffer.bytes != 0 && !fields.Has("cause")) AddQueue(buffer, flag, fields);
  const bool lost = writes && earlier.wrote && overwritten != nullptr && overwritten->Is(other.loc, site.loc);
  const char* const same = lost ? "race-overwrites-unread" : "race-same-pipe";
  core.Fault(pipe == earlier.pipe ? same : hazard, site.loc, other.loc, fields);
}

// Two copies of whole blocks that store less than one block of the same bytes, from `at` on: rows that are rounded up reach into each
// other.
GNT_COLD inline void AddRounded(const Site& site, const RowSet& rows, const Site& other, const RowSet& others,
                                uintptr_t at, FieldList& fields) {
  if (__builtin_strcmp(site.op, "DataCopy") != 0 || __builtin_strcmp(other.op, "DataCopy") != 0) return;
  if (rows.count != 1 || others.count != 1) return;
  const uintptr_t end = rows.End() < others.End() ? rows.End() : others.End();
  if (end > at && end - at < kBlockBytes) fields.Add({"cause", "rounded-stores"});
}

// Two accesses to global memory: of these rows, and of `others` earlier.
GNT_COLD inline void ReportGlobal(Core& core, const Sites& sites, const Site& site, Pipe pipe, bool writes,
                                  const RowSet& rows, const Earlier& earlier, const RowSet& others) {
  const Site& other = sites.At(SiteOf(earlier.stamp));
  const InArgument place(core, earlier.at);
  FieldList fields{{"op", site.op},
                   {"pipe", NameOf(pipe)},
                   {"does", writes ? "writes" : "reads"},
                   {"memory", place.name},
                   {"offset", place.offset},
                   {"flag", NameOf(EventBetween(earlier.pipe, pipe))},
                   {"other_op", other.op},
                   {"other_pipe", NameOf(earlier.pipe)},
                   {"other_does", earlier.wrote ? "writing" : "reading"},
                   {"other_file", other.loc.file},
                   {"other_line", other.loc.line}};
  if (writes && earlier.wrote && pipe == earlier.pipe) {
    AddRounded(site, rows, other, others, earlier.at, fields);
    if (!fields.Has("cause") && core.atomic == 0) fields.Add({"cause", "stores-meet"});
  }
  core.Fault(pipe == earlier.pipe ? "race-same-pipe" : "race-global", site.loc, other.loc, fields);
}

// Two blocks store with the same line, one from further on than the other: where their parts begin and end.
GNT_COLD inline void AddParts(const SharedRun& run, const SharedRun& other, const Core& core, FieldList& fields) {
  if (fields.Has("cause") || run.site != other.site || run.rows.at == other.rows.at) return;
  const bool later = run.rows.at > other.rows.at;
  const SharedRun& first = later ? other : run;
  const SharedRun& second = later ? run : other;
  const InArgument place(core, first.rows.at);
  const int64_t begins = place.offset;
  const uint64_t apart = second.rows.at - first.rows.at;
  const bool in_bytes =
      place.element_bytes > 1 && apart > kBlockBytes && apart * place.element_bytes == first.rows.End() - first.rows.at;
  fields.Add({"cause", in_bytes ? "parts-in-bytes" : "parts-overlap"});
  fields.Add({"element_bytes", place.element_bytes});
  fields.Add({"first_block", first.block});
  fields.Add({"first_begins", begins});
  fields.Add({"first_ends", begins + static_cast<int64_t>(first.rows.End() - first.rows.at)});
  fields.Add({"second_block", second.block});
  fields.Add({"second_begins", begins + static_cast<int64_t>(apart)});
}

// Lines whose stores do not add, because a line before them has ended that.
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
  // For two blocks that store with the same line.
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

// Lines of a kernel whose reads wait for other blocks: that they run beside a store is what they are for.
struct PolledLines {
  static constexpr uint32_t kMost = 16;
  Loc all[kMost];
  uint32_t count = 0;

  bool Has(Loc loc) const {
    for (uint32_t i = 0; i < count; ++i)
      if (all[i].line == loc.line && all[i].file == loc.file) return true;
    return false;
  }
};

// Called with each pair of runs of two blocks that collided.
struct Collision {
  Core& core;
  const Sites& sites;
  bool took_turns;
  const PolledLines& polled;
  const EndedAdditions& ended;

  GNT_COLD void operator()(const SharedRun& run, const SharedRun& other, uintptr_t at) const {
    constexpr const char* kDoes[] = {"reads", "writes", "adds to", "writes"};
    const Site& mine = sites.At(run.site);
    const Site& theirs = sites.At(other.site);
    if (other.use == Use::Read ? polled.Has(theirs.loc) : run.use == Use::Read && polled.Has(mine.loc)) return;
    const InArgument place(core, at);
    const uint32_t reporter = core.block;  // whoever notices: the finding is about two others
    core.block = run.block;
    const auto stores = [](Use use) { return use == Use::Write || use == Use::Equal; };
    const bool equal =
        !took_turns && (run.use == Use::Equal || other.use == Use::Equal) && stores(run.use) && stores(other.use);
    FieldList fields{{"op", mine.op},
                     {"does", kDoes[static_cast<int>(run.use)]},
                     {"memory", place.name},
                     {"offset", place.offset},
                     {"own_block", run.block},
                     {"other_op", theirs.op},
                     {"other_does", kDoes[static_cast<int>(other.use)]},
                     {"other_block", other.block},
                     {"other_file", theirs.loc.file},
                     {"other_line", theirs.loc.line}};
    if (!equal && stores(run.use) && stores(other.use)) AddRounded(mine, run.rows, theirs, other.rows, at, fields);
    if (stores(run.use) && stores(other.use)) {
      AddParts(run, other, core, fields);
      ended.Add(run, other, fields);
    }
    equal ? core.Warn("race-equal-bytes", mine.loc, theirs.loc, fields)
          : core.Fault("race-blocks", mine.loc, theirs.loc, fields);
    core.block = reporter;
  }
};

}  // namespace gn_twin
