// One source, one result: Abs, Exp, Ln, Sqrt, Rsqrt, Reciprocal, Relu.
//
// Source: docs/zh/api, Memory矢量计算/基础算术. half computes in float and rounds once.
#pragma once
#include "gn_twin/math.h"
#include "gn_twin/vector_forms.h"

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
  template <class T>
  T operator()(T value) const {
    return T(ExpFloat(static_cast<float>(value)));
  }
};
struct LnOp {
  template <class T>
  T operator()(T value) const {
    return T(LnFloat(static_cast<float>(value)));
  }
};
struct SqrtOp {
  template <class T>
  T operator()(T value) const {
    return T(SqrtFloat(static_cast<float>(value)));
  }
};
struct RsqrtOp {
  template <class T>
  T operator()(T value) const {
    return T(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(static_cast<float>(value)))));
  }
};
struct ReciprocalOp {
  template <class T>
  T operator()(T value) const {
    return T(1.0f / static_cast<float>(value));
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

}  // namespace gn_twin

namespace AscendC {

// The three forms of a unary instruction: count; mask and repeat; mask array and repeat.
#define GNT_UNARY(NAME, OP, ...)                                                                              \
  template <class T, bool isSetMask = true>                                                                   \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,                \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                 \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                 \
    gn_twin::RunCount(#NAME, loc, gn_twin::OP{}, count, dst, src);                                            \
  }                                                                                                           \
  template <class T, bool isSetMask = true, class Mask>                                                       \
    requires gn_twin::kIsMask<Mask>                                                                           \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, const uint8_t repeatTime, \
                   const UnaryRepeatParams& repeatParams, gn_twin::Loc loc = gn_twin::Loc::here()) {          \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                 \
    gn_twin::RunUnary<isSetMask>(#NAME, loc, gn_twin::OP{}, mask, repeatTime, repeatParams, dst, src);        \
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
