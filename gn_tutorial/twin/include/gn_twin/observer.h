// The interface of everything that watches a launch: tallies, checkers, traces. Observers never change what a kernel computes.
#pragma once
#include "gn_twin/event.h"

namespace gn_twin {

struct Core;

class Observer {
 public:
  virtual ~Observer() = default;
  // Called once per operation, after its operands were validated and before it computes. `core` is the one that issued it.
  virtual void OnEvent(Core& core, const Event& event) = 0;
  // Called with every GetValue, SetValue and element access, in their order, many at a time since they are too frequent for one call
  // each: always before the next event of the core is told.
  virtual void OnScalars(Core& /*core*/, const ScalarAccess* /*accesses*/, uint32_t /*count*/) {}
  // Called when a block starts and when it has run to its end; not when it was stopped.
  virtual void OnBlockBegin(Core& /*core*/) {}
  virtual void OnBlockEnd(Core& /*core*/) {}
  // Called after the last block, unless one was stopped. `core` is a fresh one of block 0, to report findings with.
  virtual void OnLaunchEnd(Core& /*core*/) {}
};

// The observers of one launch, in the order in which they are told.
class Observers {
 public:
  void Add(Observer& observer) { all_[count_++] = &observer; }

  void OnEvent(Core& core, const Event& event) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnEvent(core, event);
  }
  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnScalars(core, accesses, count);
  }
  void OnBlockBegin(Core& core) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnBlockBegin(core);
  }
  void OnBlockEnd(Core& core) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnBlockEnd(core);
  }
  void OnLaunchEnd(Core& core) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnLaunchEnd(core);
  }

 private:
  static constexpr uint32_t kMost = 8;
  Observer* all_[kMost] = {};
  uint32_t count_ = 0;
};

}  // namespace gn_twin
