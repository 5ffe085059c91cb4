// What the page calls in a compiled kernel: memory for arguments, one launch, and what came of it.
//
// Linked into each kernel beside gnt_run (gn_twin/base/abi.h). Pointers and counts are 32 bits here; 64-bit numbers come as two halves.
#include <stdlib.h>

#include "gn_twin/base/abi.h"
#include "gn_twin/core/source_findings.h"

#define PAGE(NAME) __attribute__((export_name(#NAME), used))

namespace {
constexpr uint32_t kMostArguments = 64;
GntArg arguments[kMostArguments];
GntJob job;
gn_twin::SourceFinding* source_findings;
uint32_t source_count;
}  // namespace

// What is wrong with the source comes with the launch: it is read while the kernel is compiled.
bool gn_twin::ReportSource(GntJob& job, const char* entry) {
  return WriteSourceFindings(job, entry, source_findings, source_count);
}

extern "C" {
int32_t gnt_run(const char* entry, GntJob* job);

// Returns memory at a multiple of 512 bytes, as tensors lie in a job file, with `around` unused bytes on each side, a
// multiple of 512; null if there is no memory.
PAGE(page_alloc) void* page_alloc(uint32_t bytes, uint32_t around) {
  uint8_t* const at = static_cast<uint8_t*>(aligned_alloc(512, (uint64_t{bytes} + 512 + 511) / 512 * 512 + 2 * uint64_t{around}));
  return at != nullptr ? at + around : nullptr;
}

PAGE(page_argument)
void page_argument(uint32_t index, const char* name, uint8_t* data, uint32_t bytes, uint32_t kind, uint32_t role, uint64_t address,
                   uint64_t poison, uint32_t element_bytes) {
  arguments[index] = GntArg{name, data, bytes, static_cast<GntKind>(kind), static_cast<GntRole>(role), address, poison, element_bytes};
}

PAGE(page_source) void page_source(uint32_t count) {
  source_findings = static_cast<gn_twin::SourceFinding*>(calloc(count, sizeof(gn_twin::SourceFinding)));
}
PAGE(page_source_finding)
void page_source_finding(const char* entry, const char* id, uint32_t error, const char* file, uint32_t line) {
  source_findings[source_count++] = gn_twin::SourceFinding{entry, id, error != 0, file, line, 0, {}};
}
PAGE(page_source_field) void page_source_field(const char* key, const char* text) {
  gn_twin::SourceFinding& last = source_findings[source_count - 1];
  last.fields[last.count++] = {key, text};
}

// The fields of GntOptions in their order.
PAGE(page_options) GntOptions* page_options() { return &job.options; }

PAGE(page_trace) void page_trace(uint8_t* slots, uint32_t bytes, const uint32_t* chosen, uint32_t count) {
  job.trace = GntTrace{};
  job.trace.slots = slots;
  job.trace.bytes = bytes;
  job.trace.chosen = chosen;
  job.trace.chosen_count = count;
}

// A GntStatus. `severities`: may be null.
PAGE(page_run)
int32_t page_run(const char* entry, uint32_t count, uint32_t blocks, uint64_t tiling_key, const char* severities, char* report,
                 uint32_t report_bytes) {
  job.abi_version = GNT_ABI_VERSION;
  job.blocks = blocks;
  job.tiling_key = tiling_key;
  job.args = arguments;
  job.arg_count = count;
  job.severities = severities;
  job.report = report;
  job.report_bytes = report_bytes;
  job.poisons = 1;
  return gnt_run(entry, &job);
}

PAGE(page_tally) const GntTally* page_tally() { return &job.tally; }        // 7 numbers of 64 bits
PAGE(page_lines) const uint64_t* page_lines() { return &job.trace.used; }  // the bytes used, and 7 counts of lines
PAGE(page_trace_full) uint32_t page_trace_full() { return job.trace.full; }
PAGE(page_here_line) uint32_t page_here_line() { return job.here_line; }
PAGE(page_here_file) const char* page_here_file() { return job.here_file; }
PAGE(page_here_block) uint32_t page_here_block() { return job.here_block; }
}
