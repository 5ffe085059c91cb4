// Diagnostics as data: an id, a place and named fields. Each is one line of JSON in the launch's report.
//
// The sentences are in gn_tutorial/diagnostics/diagnostics.toml under the same id; this header has none.
#pragma once
#include <stdint.h>

#include <initializer_list>

#include "gn_twin/base/abi.h"
#include "gn_twin/base/config.h"
#include "gn_twin/base/loc.h"
#include "gn_twin/events/extent.h"
#include "gn_twin/events/wild_values.h"
#include "gn_twin/events/wrapped_numbers.h"

namespace gn_twin {

// One named fact of a diagnostic: a number, a text or an extent.
struct Field {
  const char* key = "";
  const char* text = nullptr;  // of an extent: the role of its operand
  int64_t number = 0;
  const Extent* extent = nullptr;
  bool needs = false;

  constexpr Field() = default;
  constexpr Field(const char* key, const char* text) : key(key), text(text) {}
  template <class N>
    requires requires(N number) { static_cast<int64_t>(number); }
  constexpr Field(const char* key, N number) : key(key), number(static_cast<int64_t>(number)) {}

  // An operand that should fit into `bytes` bytes, and one that should be at least that long. The report has, for each
  // parameter, a value with which it would be so.
  static Field Fits(const char* key, const char* role, const Extent& extent, uint64_t bytes) {
    return Field(key, role, extent, bytes, false);
  }
  static Field Needs(const char* key, const char* role, const Extent& extent, uint64_t bytes) {
    return Field(key, role, extent, bytes, true);
  }

 private:
  Field(const char* key, const char* role, const Extent& extent, uint64_t bytes, bool needs)
      : key(key), text(role), number(static_cast<int64_t>(bytes)), extent(&extent), needs(needs) {}
};

// Whether the launch treats a finding as an error. `usually` decides, unless TwinOptions names the finding.
GNT_COLD inline bool IsError(const GntJob& job, const char* id, bool usually) {
  const uint64_t length = __builtin_strlen(id);
  for (const char* at = job.severities; at != nullptr && *at != '\0';) {
    if (__builtin_strncmp(at + 1, id, length) == 0 && at[1 + length] == '\n') return *at == 'e';
    while (*at != '\0' && *at++ != '\n') {
    }
  }
  return usually;
}

// Appends to job->report and never writes past its capacity; a line that does not fit is dropped whole.
class ReportWriter {
 public:
  explicit ReportWriter(GntJob& job) : job_(job) {}

  GNT_COLD void Write(const char* id, const char* severity, Loc loc, uint32_t block, const Field* fields,
                      uint32_t count) {
    if (job_.report == nullptr) return;
    start_ = at_ = __builtin_strlen(job_.report);
    Text("{\"id\":");
    Quoted(id);
    Text(",\"severity\":");
    Quoted(severity);
    Text(",\"file\":");
    Quoted(loc.file);
    Text(",\"line\":");
    Number(loc.line);
    Text(",\"block\":");
    Number(block);
    Text(",\"fields\":{");
    const Field* const wild = Wild(fields, count);
    const Wrapped wrapped = wild != nullptr || IsOfCounterMode(fields, count) ? Wrapped{} : WrappedOf(fields, count);
    bool first = true;
    for (uint32_t i = 0; i < count; ++i) {
      const bool explains = fields[i].extent != nullptr || __builtin_strcmp(fields[i].key, "cause") == 0;
      if ((wild != nullptr || wrapped.below != 0) && explains) continue;
      Write(fields[i], first);
      first = false;
    }
    if (wild != nullptr) {
      Write({"cause", "no-value"}, first);
      Write({"wild", wild->number}, false);
    }
    if (wrapped.below != 0) {
      Write({"cause", wrapped.unit == 1 ? "wrapped" : "wrapped-elements"}, first);
      Write({"shown", wrapped.number * wrapped.unit}, false);
      Write({"wrapped", wrapped.number}, false);
      Write({"below", wrapped.below}, false);
      Write({"unit", wrapped.unit}, false);
      Write({"bits", wrapped.bits}, false);
    }
    Text("}}\n");
    if (at_ < job_.report_bytes) {
      job_.report[at_] = '\0';
    } else if (start_ < job_.report_bytes) {
      job_.report[start_] = '\0';
    }
  }

 private:
  // Returns the first number that was computed from a variable without a value; null if there is none.
  static const Field* Wild(const Field* fields, uint32_t count) {
    for (uint32_t i = 0; kObserved && i < count; ++i)
      if (fields[i].text == nullptr && IsWildNumber(fields[i].number)) return &fields[i];
    return nullptr;
  }
  // Whether a finding is about counter mode. There a mask of all lanes is 2^32 - 1 elements, which looks like a number
  // that went below zero but is none.
  static bool IsOfCounterMode(const Field* fields, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
      if (fields[i].text != nullptr && __builtin_strcmp(fields[i].text, "counter-mode") == 0) return true;
    return false;
  }
  // Returns the first number that went below zero. Skips the field "value", which was read from memory and may be any
  // number.
  static Wrapped WrappedOf(const Field* fields, uint32_t count) {
    for (uint32_t i = 0; kObserved && i < count; ++i) {
      const char* const key = fields[i].key;
      if (fields[i].text != nullptr || __builtin_strcmp(key, "value") == 0) continue;
      const Wrapped found = WrappedNumber(fields[i].number, __builtin_strcmp(key, "rows") == 0);
      if (found.below != 0) return found;
    }
    return {};
  }
  void Write(const Field& field, bool first) {
    if (!first) Char(',');
    Quoted(field.key);
    Char(':');
    if (field.extent != nullptr) return Numbers(field);
    field.text != nullptr ? Quoted(field.text) : Number(field.number);
  }
  // Writes an extent: whether it should be longer, and for each parameter its name, value, unit, the unit's bytes, the
  // value that would do (or -1), and its rule.
  void Numbers(const Field& field) {
    static constexpr const char* kUnits[] = {"", "elements", "bytes", "blocks of 32 bytes", "results", "pairs"};
    const Extent& extent = *field.extent;
    const uint64_t bytes = static_cast<uint64_t>(field.number);
    Text("{\"needs\":");
    Text(field.needs ? "true" : "false");
    Text(",\"numbers\":[");
    bool first = true;
    for (uint32_t i = 0; i < kExtentValues; ++i) {
      const ExtentParameter& one = extent.Parameter(i);
      if (one.name == nullptr || !extent.Matters(i)) continue;
      Text(first ? "[\"" : ",[\"");
      first = false;
      if (one.of_role) Text(field.text);
      Text(one.name);
      Text("\",");
      Number(extent.value[i]);
      Char(',');
      Quoted(kUnits[static_cast<uint32_t>(one.unit)]);
      Char(',');
      Number(static_cast<int64_t>(extent.UnitBytes(one.unit)));
      Char(',');
      Number(field.needs ? extent.Needs(i, bytes) : extent.Fits(i, bytes, field.text[0] == 'd'));
      Char(',');
      Quoted(one.rule);
      Char(']');
    }
    Text("]}");
  }
  void Char(char c) {
    if (at_ + 1 < job_.report_bytes) {
      job_.report[at_++] = c;
    } else {
      at_ = job_.report_bytes;
    }
  }
  void Text(const char* text) {
    while (*text != '\0') Char(*text++);
  }
  void Quoted(const char* text) {
    Char('"');
    for (; *text != '\0'; ++text) {
      const unsigned char c = static_cast<unsigned char>(*text);
      if (c == '"' || c == '\\') {
        Char('\\');
        Char(static_cast<char>(c));
      } else if (c < 0x20) {
        Char(' ');
      } else {
        Char(static_cast<char>(c));
      }
    }
    Char('"');
  }
  void Number(int64_t number) {
    char digits[24];
    int length = 0;
    uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    do {
      digits[length++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) Char('-');
    while (length > 0) Char(digits[--length]);
  }

  GntJob& job_;
  uint64_t start_ = 0;
  uint64_t at_ = 0;
};

// The findings of one launch that did not end it. Each kind of finding is reported once per place, or per pair of
// places, so that a loop does not fill the report.
class Findings {
 public:
  // Whether this finding is new, and there is room for it (kMost). `other` is the second place of findings with one.
  bool First(const char* id, Loc loc, Loc other) {
    for (uint32_t i = 0; i < count_; ++i) {
      const Seen& seen = seen_[i];
      if (seen.id == id && seen.loc.line == loc.line && seen.other_line == other.line && seen.loc.file == loc.file)
        return false;
    }
    if (count_ == kMost) return false;
    seen_[count_++] = {id, loc, other.line};
    return true;
  }
  bool Has(const char* id) const {
    for (uint32_t i = 0; i < count_; ++i)
      if (__builtin_strcmp(seen_[i].id, id) == 0) return true;
    return false;
  }
  void CountError() { ++errors_; }
  uint32_t Errors() const { return errors_; }

 private:
  struct Seen {
    const char* id = nullptr;
    Loc loc;
    uint32_t other_line = 0;
  };
  static constexpr uint32_t kMost = 64;
  Seen seen_[kMost];
  uint32_t count_ = 0;
  uint32_t errors_ = 0;
};

}  // namespace gn_twin
