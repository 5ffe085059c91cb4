// A fiber in WebAssembly, where code cannot access the call stack: the host suspends a call and resumes it (JavaScript
// promise integration). Each fiber has memory of its own (stack_) for the variables whose address is taken.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <new>

#include "gn_twin/base/config.h"
#include "gn_twin/core/object_pool.h"

namespace gn_twin {
class Fiber;
}
// Runs the fiber until it leaves or ends; the first time, the host calls gnt_fiber_body. `stack`: one past the highest
// byte of the fiber's memory.
extern "C" __attribute__((import_module("gnt"), import_name("fiber_enter"))) void GnTwinHostEnter(gn_twin::Fiber* fiber,
                                                                                                  void* stack);
// Suspends the fiber until it is entered again.
extern "C" __attribute__((import_module("gnt"), import_name("fiber_leave"))) void GnTwinHostLeave(
    gn_twin::Fiber* fiber);

namespace gn_twin {

class Fiber {
 public:
  // Returns a new fiber, or null if there is no memory.
  static Fiber* New() { return new (std::nothrow) Fiber; }

  uint64_t Lowest() const { return reinterpret_cast<uintptr_t>(stack_); }
  void Start(void (*function)(void*), void* argument) {
    function_ = function;
    argument_ = argument;
  }
  GNT_COLD void Enter() { GnTwinHostEnter(this, stack_ + kBytes); }
  // Suspends the fiber, except at its end, where its function returns instead.
  GNT_COLD void Leave(bool end) {
    if (!end) GnTwinHostLeave(this);
  }
  void Arrived() {}
  void Body() { function_(argument_); }

 private:
  static constexpr size_t kBytes = 256 * 1024;
  void (*function_)(void*) = nullptr;
  void* argument_ = nullptr;
  alignas(16) uint8_t stack_[kBytes];
};

}  // namespace gn_twin

extern "C" __attribute__((export_name("gnt_fiber_body"), used)) inline void GnTwinFiberBody(gn_twin::Fiber* fiber) {
  fiber->Body();
}
