// A fiber: a separate stack on which a block runs until it waits, and the switch to it and back.
//
// Threads would do the same at twenty times the cost, and a launch of forty blocks with two SyncAll switches stacks two
// hundred times. The switch saves the callee-saved registers of the calling conventions of x86-64 (System V) and
// AArch64 (AAPCS64). The compiler saves the others, as around any call.
#pragma once
#if defined(__wasm__)
#include "gn_twin/core/web_fiber.h"
#else
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "gn_twin/base/config.h"
#include "gn_twin/core/object_pool.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// gn_twin_switch(&from, to): pushes the registers, stores the stack pointer in `from`, and continues where `to`
// stopped. gn_twin_enter: where a new fiber begins. It calls the function that Start() stored, with the argument stored
// beside it.
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
gn_twin_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.p2align 4
gn_twin_enter:
  movq %rbx, %rdi
  callq *%r12
  ud2
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
gn_twin_switch:
  stp x19, x20, [sp, #-160]!
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x19, x20, [sp], #160
  ret
.p2align 4
gn_twin_enter:
  mov x0, x19
  blr x20
  brk #1
)");
#else
#error "switching stacks is implemented for x86-64 and aarch64 only: add a case above for this processor"
#endif
extern "C" [[gnu::visibility("hidden")]] void GnTwinSwitch(void** from, void* to) asm("gn_twin_switch");
extern "C" [[gnu::visibility("hidden")]] void GnTwinEnter() asm("gn_twin_enter");

namespace gn_twin {

class Fiber {
 public:
  // Returns a new fiber, or null if there is no memory.
  static Fiber* New() {
    void* lowest = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (lowest == MAP_FAILED) return nullptr;
    // A stack that grows too far hits memory without access rights, not other data.
    if (mprotect(lowest, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE) != 0) {
      munmap(lowest, kBytes);
      return nullptr;
    }
    Fiber* made = new (std::nothrow) Fiber(lowest);
    if (made == nullptr) munmap(lowest, kBytes);
    return made;
  }
  ~Fiber() { munmap(lowest_, kBytes); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  uint64_t Lowest() const { return reinterpret_cast<uint64_t>(lowest_); }

  // Makes the next Enter() call function(argument) on this stack. The function ends with Leave(true) and never returns.
  void Start(void (*function)(void*), void* argument) {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(lowest_, kBytes);
#endif
    uint64_t* frame = reinterpret_cast<uint64_t*>(static_cast<uint8_t*>(lowest_) + kBytes);
    const uint64_t entry = reinterpret_cast<uint64_t>(&GnTwinEnter);
    const uint64_t called = reinterpret_cast<uint64_t>(function), given = reinterpret_cast<uint64_t>(argument);
#if defined(__x86_64__)
    frame -= 7;  // r15, r14, r13, r12, rbx, rbp, return address; gn_twin_enter's stack is then aligned to 16 bytes
    frame[0] = frame[1] = frame[2] = frame[5] = 0;
    frame[3] = called;
    frame[4] = given;
    frame[6] = entry;
#else
    frame -= 20;  // x19 to x30, d8 to d15
    for (int i = 0; i < 20; ++i) frame[i] = 0;
    frame[0] = given;
    frame[1] = called;
    frame[11] = entry;
#endif
    inside_ = frame;
  }

  // Runs this fiber until it leaves.
  GNT_COLD void Enter() {
#if defined(__SANITIZE_ADDRESS__)
    void* caller = nullptr;
    __sanitizer_start_switch_fiber(&caller, lowest_, kBytes);
    GnTwinSwitch(&outside_, inside_);
    __sanitizer_finish_switch_fiber(caller, nullptr, nullptr);
#else
    GnTwinSwitch(&outside_, inside_);
#endif
  }

  // Goes back to the caller of Enter() until the next Enter(), or for ever if `end`. Call this inside the fiber.
  GNT_COLD void Leave(bool end) {
#if defined(__SANITIZE_ADDRESS__)
    void* own = nullptr;
    __sanitizer_start_switch_fiber(end ? nullptr : &own, outside_lowest_, outside_bytes_);
    GnTwinSwitch(&inside_, outside_);
    Arrived(own);
#else
    static_cast<void>(end);
    GnTwinSwitch(&inside_, outside_);
#endif
  }

  // Tells AddressSanitizer that the switch to this stack is complete. Call this first inside the fiber.
  void Arrived([[maybe_unused]] void* own = nullptr) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(own, &outside_lowest_, &outside_bytes_);
#endif
  }

 private:
  explicit Fiber(void* lowest) : lowest_(lowest) {}

  // As large as a main thread's stack (docs/platforms.md). Only pages that are used take memory.
  static constexpr size_t kBytes = 8 * 1024 * 1024;
  void* lowest_;
  void* inside_ = nullptr;   // saved stack pointer of this fiber
  void* outside_ = nullptr;  // saved stack pointer of the caller of Enter()
#if defined(__SANITIZE_ADDRESS__)
  const void* outside_lowest_ = nullptr;
  size_t outside_bytes_ = 0;
#endif
};

}  // namespace gn_twin
#endif
