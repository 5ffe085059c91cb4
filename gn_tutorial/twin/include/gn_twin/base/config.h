// The language of a kernel file (qualifiers, address spaces) and the sizes of the machine the twin imitates.
//
// Target: Atlas A2 training and inference products, AI Vector core (AIV), architecture dav-2201.
// Source of the sizes: docs/zh/api of asc-devkit (general constraints; LocalTensor; mask register).
#pragma once
#include <stdint.h>

// 1 (observed): every operation checks its operands and emits an event. 0 (bare): operations only compute. The build
// sets one value for a whole library.
#ifndef GNT_OBSERVED
#define GNT_OBSERVED 1
#endif

// On the device these select the compiler's target, and the memory that a pointer refers to. The host has only one of
// each, so here all but GM_ADDR are empty. In a check of address spaces (gn_tutorial/compiler/address_spaces.py), which
// only clang makes and which gives no library, two of them are types.
#define __aicore__
#define __global__
#define __vector__
#define __cube__
#define __mix__(...)
#define __host_aicore__
#ifdef GNT_ADDRESS_SPACES
#define __gm__ __attribute__((address_space(1)))
#define __ubuf__ __attribute__((address_space(2)))
#else
#define __gm__
#define __ubuf__
#endif

namespace gn_twin {

// Returns the pointer as `To`, which names a memory that the pointer's type does not name, or the other way round.
template <class To, class From>
constexpr To SpaceCast(From pointer) {
#ifdef GNT_ADDRESS_SPACES
  return (To)pointer;  // in C++ only this form converts
#else
  return pointer;
#endif
}

}  // namespace gn_twin

#define __simd_vf__
#define __inout_pipe__(...)
#define GM_ADDR __gm__ uint8_t*

// Kernels test these to distinguish targets (CANN's own spellings and values for dav-2201 and for a CPU build).
// __CCE_KT_TEST__, which CANN's CPU build also defines, is left out, because kernels remove their SyncAll where it is
// defined: in that build, blocks do not run side by side.
#define __CCE_AICORE__ 220
#define __DAV_C220_VEC__ 1
#define __NPU_ARCH__ 2201
#define ASCENDC_CPU_DEBUG 1

#define GNT_EXPORT __attribute__((visibility("default")))
// For a function that runs rarely (once a launch or a block, after a mistake, for atomics). It is compiled for size,
// which takes a fraction of the time of vectorising and unrolling. Never use it on a path that every kernel takes,
// because g++ treats a function that must call a cold one as cold itself.
#define GNT_COLD __attribute__((cold, noinline))
// For a function that is called often, but not inlined, because kernels have to compile in about a second.
#define GNT_NOINLINE __attribute__((noinline))
// For a variable whose constructor sets everything that is read. Other variables are first filled with a pattern
// (-ftrivial-auto-var-init, for values that kernels leave unset). For a Core, g++ stores that pattern field by field,
// which takes a quarter of a small kernel's compile time.
#if __has_attribute(uninitialized)
#define GNT_AS_BUILT __attribute__((uninitialized))
#else
#define GNT_AS_BUILT
#endif
// Tells the compiler that a condition is false once in a thousand times or less.
#define GNT_NEARLY_ALWAYS(...) __builtin_expect_with_probability(static_cast<bool>(__VA_ARGS__), true, 0.999)
// Lets the compiler vectorise a loop without a proof that its operands do not overlap. The operands of one vector
// instruction are equal or disjoint; anything else is undefined on the device.
#if defined(__clang__)
#define GNT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GNT_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace gn_twin {

// Whether this library is observed. A constant suffices although libraries of both modes live side by side in one
// process, because nothing of the twin is visible outside its own library (hidden visibility, RTLD_LOCAL).
inline constexpr bool kObserved = GNT_OBSERVED != 0;

// Whether the compiler reports each access of the kernel's own code to memory (tensor/pointer_hooks.h). The build defines
// the macro for kernels that use plain pointers.
#ifdef GNT_POINTER_HOOKS
inline constexpr bool kPointersSeen = true;
#else
inline constexpr bool kPointersSeen = false;
#endif

// The Unified Buffer of one AI Vector core of the chip that the library is built for (gn_tutorial/machines).
#ifndef GNT_UB_BYTES
#define GNT_UB_BYTES (192 * 1024)
#endif
inline constexpr uint32_t kUbBytes = GNT_UB_BYTES;
inline constexpr uint32_t kScratchAt =
    kUbBytes - 8 * 1024;  // from here on, Select (modes 1 and 2) and high-level APIs keep scratch data
inline constexpr uint32_t kBlockBytes = 32;    // one DataBlock
inline constexpr uint32_t kRepeatBytes = 256;  // what a vector instruction processes per repeat: 8 DataBlocks
inline constexpr uint32_t kBlocksPerRepeat = 8;
inline constexpr uint32_t kMaxBuffers = 64;  // of one TPipe
inline constexpr uint32_t kEventIds = 8;     // per HardEvent
inline constexpr uint32_t kMaxRepeats = 255;

template <class T>
inline constexpr uint32_t kLanes = kRepeatBytes / sizeof(T);

}  // namespace gn_twin
