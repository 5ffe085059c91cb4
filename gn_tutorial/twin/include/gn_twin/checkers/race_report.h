// Writes the findings of the race checker as diagnostics: the two accesses, where they collide, and which flag would
// have put them in order.
#pragma once
#include "gn_twin/causes/missing_flag.h"
#include "gn_twin/causes/overlapping_stores.h"
#include "gn_twin/causes/tensor_place.h"
#include "gn_twin/core/emit.h"
#include "gn_twin/events/hard_event.h"
#include "gn_twin/shadow/race_state.h"
#include "gn_twin/shadow/ub_state.h"

namespace gn_twin {

// Reports two accesses to the Unified Buffer. overwritten: the last results that were overwritten unread, or null.
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

// Reports two accesses to global memory: this one, to `rows`, and an earlier one, to `others`.
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

// Lines of a kernel whose reads wait for a store of another block. These reads are meant to run beside that store, so
// the two are no race.
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

// Reports the collisions between blocks. It is called with each pair of runs that collided, and ignores a pair whose
// read is in a polled line.
struct Collision {
  Core& core;
  const Sites& sites;
  bool took_turns;
  const PolledLines& polled;
  const EndedAdditions& ended;

  GNT_COLD void operator()(const SharedRun& run, const SharedRun& other, uintptr_t at) const {
    constexpr const char* kDoes[] = {"reads", "writes", "adds to", "writes", "reads", "writes"};
    const Site& mine = sites.At(run.site);
    const Site& theirs = sites.At(other.site);
    if (other.use == Use::Read ? polled.Has(theirs.loc) : run.use == Use::Read && polled.Has(mine.loc)) return;
    const InArgument place(core, at);
    const uint32_t reporter = core.block;  // the block that notices; the finding is about the blocks of the two runs
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
    if (IsCounter(other.use)) fields.Add({"cause", "counters-shared"});
    equal ? core.Warn("race-equal-bytes", mine.loc, theirs.loc, fields)
          : core.Fault("race-blocks", mine.loc, theirs.loc, fields);
    core.block = reporter;
  }
};

}  // namespace gn_twin
