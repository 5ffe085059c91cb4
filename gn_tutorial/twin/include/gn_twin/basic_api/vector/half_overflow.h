// The warning for an instruction that makes an infinite half from finite operands. The largest half is 65504, which a
// square or a sum of squares soon exceeds. Only observed libraries warn.
#pragma once
#include "gn_twin/base/float_flags.h"
#include "gn_twin/tensor/lanes.h"

namespace gn_twin {

inline bool IsInfinite(half value) { return (value.bits & 0x7fff) == 0x7c00; }
template <class T>
inline bool FiniteElement(T value) {
  if constexpr (kSame<T, float> || kSame<T, half>) {
    return FiniteFloat(static_cast<float>(value));
  } else {
    return true;
  }
}

inline bool AnyInfinite(const half* at, uint32_t count) {
  uint16_t any = 0;
  for (uint32_t i = 0; i < count; ++i) any |= (at[i].bits & 0x7fff) == 0x7c00 ? 1 : 0;
  return any != 0;
}
template <class T>
inline bool AllFinite(const T* at, uint32_t count) {
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < count; ++i) wrong |= FiniteElement(at[i]) ? 0u : 1u;
  return wrong == 0;
}

// Whether the function has a pole: then infinity can be the right result of a finite operand.
inline bool HasPole(const char* op) {
  for (const char* name : {"Div", "Reciprocal", "Rsqrt", "Ln", "Log", "Log2", "Log10", "Power", "Atanh"})
    if (__builtin_strcmp(op, name) == 0) return true;
  return false;
}

GNT_COLD inline void WarnOverflow(const char* op, Loc loc, uint64_t lane) {
  if (!HasPole(op)) ThisCore().Warn("half-overflow", loc, {}, {{"op", op}, {"lane", lane}, {"largest", 65504}});
}

// Watches an instruction with half results in consecutive lanes. Before is called before the instruction computes,
// After afterwards.
template <class D>
struct OverflowWatch {
  bool trusted = true;  // the scalar is finite, and so were all sources that the results overwrite

  template <class S>
  void Before(const D* dst, uint32_t count, const S* src) {
    if constexpr (kSame<D, half>) {
      const uint8_t* from = reinterpret_cast<const uint8_t*>(src);
      const uint8_t* to = reinterpret_cast<const uint8_t*>(dst);
      if (from < to + count * sizeof(D) && to < from + count * sizeof(S)) trusted = trusted && AllFinite(src, count);
    }
  }
  template <class... S>
  void After(const char* op, Loc loc, const D* dst, uint64_t first_lane, uint32_t count, const S*... src) const {
    if constexpr (kSame<D, half>) {
      if (trusted && AnyInfinite(dst, count)) [[unlikely]] {
        ThisCore().nans.AtLeast(NanOrigins::Flags);  // no flag of the processor shows that a half overflows
        Name(op, loc, dst, first_lane, count, src...);
      }
    }
  }

 private:
  template <class... S>
  GNT_COLD static void Name(const char* op, Loc loc, const D* dst, uint64_t first_lane, uint32_t count,
                            const S*... src) {
    for (uint32_t i = 0; i < count; ++i) {
      // A source in the destination's place is overwritten by now. `Before` recorded that it was finite.
      const auto finite = [&](const auto* at) {
        return static_cast<const void*>(at) == static_cast<const void*>(dst) || FiniteElement(at[i]);
      };
      if (IsInfinite(dst[i]) && (finite(src) && ...)) return WarnOverflow(op, loc, first_lane + i);
    }
  }
};

// Whether an operation's scalar, if it has one, is finite. If a kernel adds infinity, an infinite result is intended.
template <class Op>
inline bool FiniteScalar(const Op& op) {
  if constexpr (requires { op.scalar; }) {
    return FiniteElement(op.scalar);
  } else {
    return true;
  }
}

}  // namespace gn_twin
