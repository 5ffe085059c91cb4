// Functions with which a kernel prints and asserts: printf, PRINTF, DumpTensor, assert, ascendc_assert, ASSERT.
//
// Source: docs/zh/api, 调试接口. Output goes to the launch's standard output, where the runner collects it.
#pragma once
#include <stdarg.h>
#include <stdio.h>

#include "gn_twin/tensor/tensor.h"

namespace AscendC {

// Prints as C does. The device has the formats %d %i %u %x %f %p %s and their l forms.
__attribute__((format(printf, 1, 2))) inline void PrintImpl(const char* format, ...) {
  if (!gn_twin::ThisCore().InTurn()) return;
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  fflush(stdout);  // so that the text is not lost if the kernel crashes later
}

// Returns the value as a C variadic argument can carry it: half and bfloat16_t become double.
template <class T>
constexpr auto Printable(const T& value) {
  if constexpr (gn_twin::kSame<T, half>) {
    return static_cast<double>(static_cast<float>(value));
  } else if constexpr (gn_twin::kSame<T, bfloat16_t>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return value;
  }
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
template <class... Args>
inline void printf(const char* format, const Args&... args) {
  PrintImpl(format, Printable(args)...);
}
template <class... Args>
inline void PRINTF(const char* format, const Args&... args) {
  PrintImpl(format, Printable(args)...);
}
#pragma GCC diagnostic pop

}  // namespace AscendC

namespace gn_twin {

template <class T>
void Dump(const T* values, const char* position, uint32_t desc, uint32_t count) {
  AscendC::printf("DumpTensor: desc=%u, block=%u, position=%s, dump_size=%u\n[", desc, ThisCore().block, position,
                  count);
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) AscendC::printf(i % 16 == 0 ? ",\n " : ", ");
    if constexpr (kSame<T, half> || kSame<T, bfloat16_t> || kSame<T, float> || kSame<T, double>) {
      AscendC::printf("%f", static_cast<double>(static_cast<float>(values[i])));
    } else {
      AscendC::printf("%ld", static_cast<long>(values[i]));
    }
  }
  AscendC::printf("]\n");
}

[[noreturn]] GNT_COLD inline void AssertFailed(const char* expression, Loc loc = Loc::here()) {
  fflush(stdout);
  ThisCore().Stop("assert-failed", loc, {{"expression", expression}});
}

}  // namespace gn_twin

namespace AscendC {

// Stops the launch as a failed assert does.
inline void Trap(gn_twin::Loc loc = gn_twin::Loc::here()) { gn_twin::AssertFailed("Trap()", loc); }

// Prints the first dumpSize elements; stops if a LocalTensor has fewer. desc: a number that distinguishes dumps.
template <class T>
inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                       gn_twin::Loc loc = gn_twin::Loc::here()) {
  if (dumpSize > tensor.GetSize()) {
    gn_twin::ThisCore().Stop("dump-too-long", loc, {{"asked", dumpSize}, {"elements", tensor.GetSize()}});
  }
  gn_twin::Dump(tensor.Data(), "UB", desc, dumpSize);
}
template <class T>
inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                       gn_twin::Loc loc = gn_twin::Loc::here()) {
  if constexpr (gn_twin::kObserved)
    tensor.Check(gn_twin::ThisCore(), "DumpTensor", "tensor", uint64_t{dumpSize} * sizeof(T), loc);
  gn_twin::Dump(tensor.Data(), "GM", desc, dumpSize);
}

}  // namespace AscendC

// The further arguments of assert, which are optional, are a printf format and its values.
#define GNT_ASSERT_MESSAGE(...) __VA_OPT__(AscendC::printf(__VA_ARGS__);)
#undef assert
#define assert(EXPRESSION, ...)           \
  do {                                    \
    if (!(EXPRESSION)) {                  \
      GNT_ASSERT_MESSAGE(__VA_ARGS__)     \
      gn_twin::AssertFailed(#EXPRESSION); \
    }                                     \
  } while (0)
#define ascendc_assert(EXPRESSION, ...) assert(EXPRESSION __VA_OPT__(, ) __VA_ARGS__)
// The second argument, the text that a CPU build would print, is ignored.
#define ASCENDC_ASSERT(EXPRESSION, ...) assert(EXPRESSION)
// ASSERT expands to nothing, as on the device. Kernels rely on that: they write it in the middle of a statement,
// without a semicolon.
#define ASSERT(...)
