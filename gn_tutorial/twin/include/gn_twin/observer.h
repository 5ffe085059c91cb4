// The interface of everything that watches a launch: tallies, checkers, traces. Observers never change what a kernel computes.
#pragma once
#include "gn_twin/event.h"

namespace gn_twin {

class Observer {
 public:
  virtual ~Observer() = default;
  // Called once per operation, after its operands were validated and before it computes.
  virtual void OnEvent(const Event& event) = 0;
  // Called when a block starts and when it has run to its end.
  virtual void OnBlockBegin(uint32_t /*block*/) {}
  virtual void OnBlockEnd(uint32_t /*block*/) {}
};

}  // namespace gn_twin
