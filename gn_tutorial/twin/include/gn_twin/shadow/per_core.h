// The states of an observer, one for each running block. A state is made when a block starts, and a later block reuses
// it.
#pragma once
#include <new>

#include "gn_twin/core/core.h"

namespace gn_twin {

// State has `bool Allocate()` (false if there is no memory) and `void Restart()`.
template <class State>
class PerCore {
 public:
  PerCore() = default;
  ~PerCore() {
    for (uint32_t i = 0; i < blocks_; ++i) delete of_[i];
    delete[] of_;
    delete spare_;
  }
  PerCore(const PerCore&) = delete;
  PerCore& operator=(const PerCore&) = delete;

  void Begin(const Core& core) {
    if (of_ == nullptr) {
      of_ = new (std::nothrow) State*[core.job->blocks]();
      blocks_ = of_ != nullptr ? core.job->blocks : 0;
    }
    if (core.block >= blocks_) return;
    State* state = spare_;
    spare_ = nullptr;
    if (state == nullptr) {
      state = new (std::nothrow) State;
      if (state == nullptr || !state->Allocate()) {
        delete state;
        return;
      }
    }
    state->Restart();
    of_[core.block] = state;
  }
  // Returns the state of the core's block; null if there was no memory for it. The launch then continues unchecked.
  State* Of(const Core& core) const { return core.block < blocks_ ? of_[core.block] : nullptr; }
  void End(const Core& core) {
    if (core.block >= blocks_) return;
    delete spare_;
    spare_ = of_[core.block];
    of_[core.block] = nullptr;
  }

 private:
  State** of_ = nullptr;
  State* spare_ = nullptr;
  uint32_t blocks_ = 0;
};

}  // namespace gn_twin
