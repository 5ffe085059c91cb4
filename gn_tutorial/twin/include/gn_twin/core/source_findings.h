// Findings of the source check before compilation (gn_tutorial/cpp/portability_rules.py). Each finding is reported with
// every launch of an entry that reaches its line. The generated file has the table of findings.
#pragma once
#include "gn_twin/events/report.h"

namespace gn_twin {

struct SourceFinding {
  static constexpr uint32_t kMostFields = 3;

  const char* entry;
  const char* id;
  bool error;
  const char* file;
  uint32_t line;
  uint32_t count;
  Field fields[kMostFields];
};

// Writes the findings of `entry`; returns whether one is an error. GNT_SOURCE_FINDINGS_END defines this function.
bool ReportSource(GntJob& job, const char* entry);

// Writes the findings of `entry`. If `entry` is the main of a whole program, writes the findings of all entries, each
// once. Returns whether one is an error.
GNT_COLD inline bool WriteSourceFindings(GntJob& job, const char* entry, const SourceFinding* table, uint32_t count) {
  const char* const angle = __builtin_strchr(entry, '<');
  const uint64_t length = angle != nullptr ? static_cast<uint64_t>(angle - entry) : __builtin_strlen(entry);
  uint64_t begin = length;  // the table has names without their namespaces
  while (begin > 0 && entry[begin - 1] != ':') --begin;
  const bool all = __builtin_strcmp(entry, "main") == 0;
  bool failed = false;
  for (uint32_t i = 0; i < count; ++i) {
    const SourceFinding& one = table[i];
    const uint64_t wanted = __builtin_strlen(one.entry);
    if (!all && (wanted != length - begin || __builtin_strncmp(one.entry, entry + begin, wanted) != 0)) continue;
    bool first = true;
    for (uint32_t j = 0; all && j < i; ++j) {
      first = first && (table[j].line != one.line || __builtin_strcmp(table[j].id, one.id) != 0 ||
                        __builtin_strcmp(table[j].file, one.file) != 0);
    }
    if (!first) continue;
    const bool error = IsError(job, one.id, one.error);
    failed = failed || error;
    ReportWriter(job).Write(one.id, error ? "error" : "warning", {one.file, one.line}, 0, one.fields, one.count);
  }
  return failed;
}

}  // namespace gn_twin

#define GNT_SOURCE_FINDINGS_BEGIN \
  namespace gn_twin {             \
  static const SourceFinding kSourceFindings[] = {{"", "", false, "", 0, 0, {{"", ""}, {"", ""}, {"", ""}}},
#define GNT_SOURCE_FINDINGS_END                                                      \
  }                                                                                  \
  ;                                                                                  \
  bool ReportSource(GntJob& job, const char* entry) {                                \
    constexpr uint32_t count = sizeof(kSourceFindings) / sizeof(kSourceFindings[0]); \
    return WriteSourceFindings(job, entry, kSourceFindings + 1, count - 1);          \
  }                                                                                  \
  }
