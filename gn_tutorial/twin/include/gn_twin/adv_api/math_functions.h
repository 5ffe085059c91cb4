// High-level functions of one tensor: Tanh, Sin, Log, Erf, Floor ... and the activations Silu, Swish, Gelu.
//
// Source: docs/zh/api, 高阶API/数学计算 and 激活函数. half and float are computed in double and rounded at the end. The device
// composes these functions from basic instructions in the scratch tensor. The documentation does not say how often it
// rounds (docs/hardware-choices.md).
#pragma once
#include "gn_twin/adv_api/activation.h"
#include "gn_twin/base/elementary_math.h"

namespace gn_twin {

// Applies a function of double to elements of half or float, and rounds the result to float, then to the element type.
template <double (*kFunction)(double)>
struct ElementaryOp {
  template <class T>
  T operator()(T value) const {
    return T(static_cast<float>(kFunction(static_cast<double>(static_cast<float>(value)))));
  }
};

// Returns x / (1 + e^-(scale x)). Each activation has its own scale.
struct SwishOp {
  double scale;
  template <class T>
  T operator()(T value) const {
    const double x = static_cast<double>(static_cast<float>(value));
    return T(static_cast<float>(x / (1.0 + elementary::Exp(-scale * x))));
  }
};

namespace elementary {

inline double Sign(double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x != x ? x : 0.0); }
inline double Frac(double x) { return x - Trunc(x); }
// Returns the tanh form of Gelu, simplified as documented: 1.595769... is twice the square root of 2 / pi.
inline double Gelu(double x) { return x / (1.0 + Exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))); }

}  // namespace elementary

template <class Op, class T>
void RunMaths(const char* name, Loc loc, Op op, uint32_t count, const LocalTensor<T>& dst, const LocalTensor<T>& src,
              bool apart) {
  static_assert(kOneOf<T, half, float>, "this function on Atlas A2 takes half, float");
  if (apart) RequireApart(name, loc, dst, src, uint64_t{count} * sizeof(T));
  RunCount(name, loc, op, static_cast<int32_t>(count), dst, src);
}

}  // namespace gn_twin

namespace AscendC {

// Defines four forms: with or without scratch tensor, with a count or for the whole source. APART: whether the
// documentation forbids dst and src to overlap. basic_api/vector/binary.h explains the overload that returns R.
#define GNT_MATHS(NAME, APART)                                                                                      \
  template <class T, bool isReuseSource = false>                                                                    \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount,                   \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                       \
    gn_twin::RunMaths(#NAME, loc, gn_twin::ElementaryOp<gn_twin::elementary::NAME>{}, calCount, dst, src, APART);   \
  }                                                                                                                 \
  template <class T, bool isReuseSource = false>                                                                    \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&,                   \
                   const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) {                              \
    NAME<T, isReuseSource>(dst, src, calCount, loc);                                                                \
  }                                                                                                                 \
  template <class T, bool isReuseSource = false>                                                                    \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&,                   \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                       \
    NAME<T, isReuseSource>(dst, src, src.GetSize(), loc);                                                           \
  }                                                                                                                 \
  template <class T, bool isReuseSource = false>                                                                    \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, gn_twin::Loc loc = gn_twin::Loc::here()) { \
    NAME<T, isReuseSource>(dst, src, src.GetSize(), loc);                                                           \
  }                                                                                                                 \
  template <class T, bool isReuseSource = false, class R>                                                           \
  inline R NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount) {                    \
    return NAME<T, isReuseSource>(dst, src, calCount, gn_twin::Loc{});                                              \
  }

GNT_MATHS(Sin, true)
GNT_MATHS(Cos, true)
GNT_MATHS(Tan, true)
GNT_MATHS(Asin, true)
GNT_MATHS(Acos, true)
GNT_MATHS(Atan, true)
GNT_MATHS(Sinh, true)
GNT_MATHS(Cosh, true)
GNT_MATHS(Tanh, true)
GNT_MATHS(Asinh, true)
GNT_MATHS(Acosh, true)
GNT_MATHS(Atanh, true)
GNT_MATHS(Log2, true)
GNT_MATHS(Log10, true)
GNT_MATHS(Erf, true)
GNT_MATHS(Erfc, true)
GNT_MATHS(Floor, true)
GNT_MATHS(Ceil, true)
GNT_MATHS(Trunc, false)
GNT_MATHS(Frac, true)
GNT_MATHS(Sign, true)
#undef GNT_MATHS

// The natural logarithm. The documentation gives no form with a scratch tensor.
template <class T, bool isReuseSource = false>
inline void Log(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t calCount,
                gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunMaths("Log", loc, gn_twin::ElementaryOp<gn_twin::elementary::Ln>{}, calCount, dst, src, true);
}
template <class T, bool isReuseSource = false>
inline void Log(const LocalTensor<T>& dst, const LocalTensor<T>& src, gn_twin::Loc loc = gn_twin::Loc::here()) {
  Log<T, isReuseSource>(dst, src, src.GetSize(), loc);
}

// Rounds to the nearest whole number, ties to even. Every form takes a count.
template <class T, bool isReuseSource = false>
inline void Round(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount,
                  gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunMaths("Round", loc, gn_twin::ElementaryOp<gn_twin::elementary::RoundEven>{}, calCount, dst, src, false);
}
template <class T, bool isReuseSource = false>
inline void Round(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&,
                  const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) {
  Round<T, isReuseSource>(dst, src, calCount, loc);
}

// Silu is x / (1 + e^-x); Swish has a factor: x / (1 + e^-(scalar x)).
template <class T, bool isReuseSource = false>
inline void Silu(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t dataSize,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunMaths("Silu", loc, gn_twin::SwishOp{1.0}, dataSize, dst, src, true);
}
template <class T, bool isReuseSource = false>
inline void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t dataSize, const T scalarValue,
                  gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunMaths("Swish", loc, gn_twin::SwishOp{static_cast<double>(static_cast<float>(scalarValue))}, dataSize, dst,
                    src, true);
}

// In Gelu and FasterGelu dst may be src.
template <class T, bool highPrecision = false, bool highPerformance = false>
inline void Gelu(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dataSize,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunMaths("Gelu", loc, gn_twin::ElementaryOp<gn_twin::elementary::Gelu>{}, dataSize, dst, src, false);
}
template <class T, bool highPrecision = false, bool highPerformance = false>
inline void Gelu(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&, const uint32_t dataSize,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  Gelu<T, highPrecision, highPerformance>(dst, src, dataSize, loc);
}
// FasterGelu is x / (1 + e^-(1.702 x)).
template <class T, bool highPrecision = false, bool highPerformance = false>
inline void FasterGelu(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dataSize,
                       gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunMaths("FasterGelu", loc, gn_twin::SwishOp{1.702}, dataSize, dst, src, false);
}
template <class T, bool highPrecision = false, bool highPerformance = false>
inline void FasterGelu(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&,
                       const uint32_t dataSize, gn_twin::Loc loc = gn_twin::Loc::here()) {
  FasterGelu<T, highPrecision, highPerformance>(dst, src, dataSize, loc);
}

}  // namespace AscendC
