// What the driver of a project's host functions reports besides their results: the last call into these headers, for a
// crash, and notes on code that works only by luck. A note has its rule's name and its place.
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

// The last call of the project into these headers. A crash report names it if there are no debugger's symbols.
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

// Returns the place where the project last asked for values of an input that host code does not have: GetData() without
// ValueDepend.
inline LastCall& LastWithoutValues() {
  static LastCall last;
  return last;
}

}  // namespace gn_twin::op_host
