// Records what the driver reports about a project's host functions besides their results: the last call into these
// headers, for a crash report, and notes on code that works only by chance. A note has the name of its rule and a
// source location.
#pragma once
#include <stdint.h>

#include <string>
#include <vector>

#include "gn_twin/base/loc.h"

namespace gn_twin::op_host {

struct NoteText {
  std::string rule;
  Loc loc;
  std::string text;
};

inline std::vector<NoteText>& Notes() {
  static std::vector<NoteText> notes;
  return notes;
}
inline void Note(const char* rule, Loc loc, const std::string& text) {
  for (const NoteText& one : Notes()) {
    if (one.rule == rule && one.text == text && one.loc.line == loc.line) return;
  }
  Notes().push_back({rule, loc, text});
}

// The last call of the project into these headers. A crash report names this call if there are no debug symbols.
struct LastCall {
  const char* volatile file = "";
  volatile uint32_t line = 0;
  const char* volatile name = "";
};
inline LastCall& Last() {
  static LastCall last;
  return last;
}
inline void At(Loc loc, const char* name) {
  Last().file = loc.file;
  Last().line = loc.line;
  Last().name = name;
}

// Returns the place where the project last asked for the values of an input without ValueDepend. Host code does not
// have these values, and GetData() returns null.
inline LastCall& LastWithoutValues() {
  static LastCall last;
  return last;
}

}  // namespace gn_twin::op_host
