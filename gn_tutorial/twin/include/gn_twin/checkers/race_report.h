// The findings of the race checker as diagnostics: the two accesses, where they collide, and which flag would have put them in order.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/hard_event.h"
#include "gn_twin/shadow/race_state.h"

namespace gn_twin {

// Where an address lies in the argument that holds it.
struct InArgument {
  const char* name;
  int64_t offset;

  InArgument(const Core& core, uintptr_t at) {
    const uint8_t* const address = reinterpret_cast<const uint8_t*>(at);
    const GntArg* const argument = ArgumentAt(core, address);
    name = NameOf(argument);
    offset = argument != nullptr ? address - argument->data : 0;
  }
};

GNT_COLD inline void ReportLocal(Core& core, const Sites& sites, const Site& site, Pipe pipe, bool writes,
                                 const Earlier& earlier) {
  Loc made;
  uintptr_t start = 0;
  for (uint32_t i = core.buffer_count; i-- > 0 && made.line == 0;) {
    const Buffer& buffer = core.buffers[i];
    if (earlier.at < buffer.offset || earlier.at >= buffer.offset + buffer.bytes) continue;
    made = buffer.made;
    start = buffer.offset;
  }
  const Site& other = sites.At(SiteOf(earlier.stamp));
  const char* const hazard = !writes         ? "race-read-after-write"
                             : earlier.wrote ? "race-write-after-write"
                                             : "race-write-after-read";
  core.Fault(pipe == earlier.pipe ? "race-same-pipe" : hazard, site.loc, other.loc,
             {{"op", site.op},
              {"pipe", NameOf(pipe)},
              {"offset", earlier.at - start},
              {"memory", "the Unified Buffer"},
              {"flag", NameOf(EventBetween(earlier.pipe, pipe))},
              {"other_op", other.op},
              {"other_pipe", NameOf(earlier.pipe)},
              {"other_file", other.loc.file},
              {"other_line", other.loc.line},
              {"buffer_file", made.file},
              {"buffer_line", made.line}});
}

GNT_COLD inline void ReportGlobal(Core& core, const Sites& sites, const Site& site, Pipe pipe, bool writes,
                                  const Earlier& earlier) {
  const Site& other = sites.At(SiteOf(earlier.stamp));
  const InArgument place(core, earlier.at);
  core.Fault(pipe == earlier.pipe ? "race-same-pipe" : "race-global", site.loc, other.loc,
             {{"op", site.op},
              {"pipe", NameOf(pipe)},
              {"does", writes ? "writes" : "reads"},
              {"memory", place.name},
              {"offset", place.offset},
              {"flag", NameOf(EventBetween(earlier.pipe, pipe))},
              {"other_op", other.op},
              {"other_pipe", NameOf(earlier.pipe)},
              {"other_does", earlier.wrote ? "writing" : "reading"},
              {"other_file", other.loc.file},
              {"other_line", other.loc.line}});
}

// Called with each pair of runs of two blocks that collided.
struct Collision {
  Core& core;
  const Sites& sites;

  GNT_COLD void operator()(const SharedRun& run, const SharedRun& other, uintptr_t at) const {
    constexpr const char* kDoes[] = {"reads", "writes", "adds to"};
    const Site& mine = sites.At(run.site);
    const Site& theirs = sites.At(other.site);
    const InArgument place(core, at);
    const uint32_t reporter = core.block;  // whoever notices: the finding is about two others
    core.block = run.block;
    core.Fault("race-blocks", mine.loc, theirs.loc,
               {{"op", mine.op},
                {"does", kDoes[static_cast<int>(run.use)]},
                {"memory", place.name},
                {"offset", place.offset},
                {"own_block", run.block},
                {"other_op", theirs.op},
                {"other_does", kDoes[static_cast<int>(other.use)]},
                {"other_block", other.block},
                {"other_file", theirs.loc.file},
                {"other_line", theirs.loc.line}});
    core.block = reporter;
  }
};

}  // namespace gn_twin
