// The observers of a launch of an observed library: counters, checkers, the trace. A bare library has none.
//
// The watchers do not depend on the kernel. So twin/watchers/watchers.cpp is compiled once and linked into each
// library. The watchers are half of the twin's code; with them, the compilation of a kernel would take four times as
// long.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

class Watchers {
 public:
  virtual ~Watchers() = default;
  const Observers& All() const { return observers_; }
  Findings& Found() { return findings_; }

 protected:
  Observers observers_;
  Findings findings_;
};

// Returns the watchers that a job asks for; throws std::bad_alloc. Defined in twin/watchers/watchers.cpp.
Watchers* NewWatchers(GntJob& job);

}  // namespace gn_twin
