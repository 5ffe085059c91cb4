// Instructions with one source and one result: Abs, Exp, Ln, Sqrt, Rsqrt, Reciprocal, Relu.
//
// Source: docs/zh/api, Memory矢量计算/基础算术. A half is computed as a float, and the float is rounded to half.
#pragma once
#include "gn_twin/base/math.h"
#include "gn_twin/basic_api/vector/forms.h"

namespace gn_twin {

struct AbsOp {
  template <class T>
  T operator()(T value) const {
    if constexpr (kSame<T, half>) {
      return half::FromBits(value.bits & 0x7fff);
    } else {
      return __builtin_fabsf(value);
    }
  }
};
struct ExpOp {
  using LeavesNumbers = void;
  template <class T>
  T operator()(T value) const {
    return T(ExpFloat(static_cast<float>(value)));
  }
};
struct LnOp {
  using LeavesNumbers = void;
  using FromZero = void;
  using Silent = void;
  template <class T>
  T operator()(T value) const {
    return T(LnFloat(static_cast<float>(value)));
  }
};
struct SqrtOp {
  using LeavesNumbers = void;
  using FromZero = void;
  template <class T>
  T operator()(T value) const {
    return T(SqrtFloat(static_cast<float>(value)));
  }
};

// Returns the value with an error like the device's, which computes Rsqrt and Reciprocal with a table. The
// documentation says only that their results miss the standards of 1/1000 (half) and 1/10000 (float). So the twin
// rounds away some of the last bits: the relative error is up to 2^-9 (half) and 2^-13 (float).
template <class T>
inline T Coarse(T value) {
  if constexpr (kSame<T, half>) {
    const uint16_t coarse = static_cast<uint16_t>((value.bits + 2u) & ~3u);
    return (value.bits & 0x7c00) == 0x7c00 ? value : half::FromBits(coarse);
  } else {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    return (bits & 0x7f800000u) == 0x7f800000u ? value : __builtin_bit_cast(float, (bits + 0x400u) & ~0x7ffu);
  }
}
struct RsqrtOp {
  using LeavesNumbers = void;
  using FromZero = void;
  bool coarse = false;
  template <class T>
  T operator()(T value) const {
    const T exact = T(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(static_cast<float>(value)))));
    return coarse ? Coarse(exact) : exact;
  }
};
struct ReciprocalOp {
  using LeavesNumbers = void;
  bool coarse = false;
  template <class T>
  T operator()(T value) const {
    const T exact = T(1.0f / static_cast<float>(value));
    return coarse ? Coarse(exact) : exact;
  }
};
struct ReluOp {
  template <class T>
  T operator()(T value) const {
    if constexpr (kSame<T, int32_t>) {
      return value > 0 ? value : 0;
    } else {
      const float x = static_cast<float>(value);
      return T(x > 0.0f || x != x ? x : 0.0f);
    }
  }
};

// Returns the operation as the launch's option `approximate` chooses it (docs/hardware-choices.md). If the option adds
// the documented error, also warns at each Rsqrt and Reciprocal, because such a launch tests accuracy.
template <class Op>
inline Op Chosen(const char* name, Loc loc) {
  if constexpr (requires(Op op) { op.coarse; }) {
    Core& core = ThisCore();
    const bool coarse = core.job->options.approximate != 0;
    if (kObserved && coarse) core.Warn("approximate-result", loc, {}, {{"op", name}});
    return Op{coarse};
  } else {
    return Op{};
  }
}

}  // namespace gn_twin

namespace AscendC {

// The three forms of a unary instruction: count; mask and repeat; mask array and repeat. GNT_BINARY explains the
// overload that returns R.
#define GNT_UNARY(NAME, OP, ...)                                                                                       \
  template <class T, bool isSetMask = true>                                                                            \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,                         \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                          \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                          \
    gn_twin::RunCount(#NAME, loc, gn_twin::Chosen<gn_twin::OP>(#NAME, loc), count, dst, src);                          \
  }                                                                                                                    \
  template <class T, bool isSetMask = true, class Mask>                                                                \
    requires gn_twin::kIsMask<Mask>                                                                                    \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask,                                    \
                   const gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,                        \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                          \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                          \
    gn_twin::RunUnary<isSetMask>(#NAME, loc, gn_twin::Chosen<gn_twin::OP>(#NAME, loc), mask, repeatTime, repeatParams, \
                                 dst, src);                                                                            \
  }                                                                                                                    \
  template <class T, bool isSetMask = true, class R>                                                                   \
  inline R NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {                          \
    return NAME<T, isSetMask>(dst, src, count, gn_twin::Loc{});                                                        \
  }

GNT_UNARY(Abs, AbsOp, half, float)
GNT_UNARY(Exp, ExpOp, half, float)
GNT_UNARY(Ln, LnOp, half, float)
GNT_UNARY(Sqrt, SqrtOp, half, float)
GNT_UNARY(Rsqrt, RsqrtOp, half, float)
GNT_UNARY(Reciprocal, ReciprocalOp, half, float)
GNT_UNARY(Relu, ReluOp, half, int32_t, float)

#undef GNT_UNARY

}  // namespace AscendC
