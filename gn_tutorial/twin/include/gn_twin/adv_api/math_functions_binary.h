// High-level functions of two operands: GeGLU, SwiGLU, ReGlu, ClampMax, ClampMin, Fmod, Xor; Exp by its Taylor series;
// and Axpy with a scratch tensor.
//
// Source: docs/zh/api, 高阶API/激活函数 and 数学计算. Except in Axpy, dst must overlap no source, and real numbers are
// computed in double and rounded at the end.
#pragma once
#include "gn_twin/adv_api/wide_compute.h"
#include "gn_twin/basic_api/vector/fused.h"
#include "gn_twin/adv_api/math_functions.h"

namespace AscendC {

inline constexpr uint32_t FMOD_ITERATION_NUM_MAX = 11;
enum class FmodAlgo { NORMAL = 0, ITERATION_COMPENSATION = 1 };
struct FmodConfig {
  FmodAlgo algo = FmodAlgo::NORMAL;
  uint32_t iterationNum = FMOD_ITERATION_NUM_MAX;
};
inline constexpr FmodConfig DEFAULT_FMOD_CONFIG = {FmodAlgo::NORMAL, FMOD_ITERATION_NUM_MAX};

}  // namespace AscendC

namespace gn_twin {

namespace elementary {

// Returns a - b trunc(a / b) without rounding, by long division in base 2. Infinite a, zero b, and NaN give NaN.
inline double Fmod(double a, double b) {
  const double divisor = __builtin_fabs(b);
  double rest = __builtin_fabs(a);
  if (!(rest < __builtin_inf()) || !(divisor > 0.0)) return Outside();
  if (divisor == __builtin_inf()) return a;
  double step = divisor;
  while (2.0 * step <= rest) step *= 2.0;
  for (; step >= divisor; step *= 0.5) {
    if (rest >= step) rest -= step;
  }
  return __builtin_copysign(rest, a);
}

}  // namespace elementary

struct FmodOp {
  template <class T>
  T operator()(T a, T b) const {
    return T(static_cast<float>(elementary::Fmod(Wide(a), Wide(b))));
  }
};
// The GLU operations return the first operand times an activation of the second.
struct GeGluOp {
  template <class T>
  T operator()(T x, T gate) const {
    return T(static_cast<float>(Wide(x) * elementary::Gelu(Wide(gate))));
  }
};
struct SwiGluOp {
  double beta;
  template <class T>
  T operator()(T x, T gate) const {
    return T(static_cast<float>(Wide(x) * Wide(gate) / (1.0 + elementary::Exp(-beta * Wide(gate)))));
  }
};
struct ReGluOp {
  template <class T>
  T operator()(T x, T gate) const {
    const double open = Wide(gate);
    return T(static_cast<float>(Wide(x) * (open > 0.0 || open != open ? open : 0.0)));
  }
};
struct XorOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
template <class T>
struct ClampMaxOp {
  using MovesBits = void;
  T bound;
  T operator()(T x) const { return static_cast<float>(x) > static_cast<float>(bound) ? bound : x; }
};
template <class T>
struct ClampMinOp {
  using MovesBits = void;
  T bound;
  T operator()(T x) const { return static_cast<float>(x) < static_cast<float>(bound) ? bound : x; }
};
// Returns e^floor(x) times the series of e^(x - floor(x)) up to the term `level`. At level 0, and for NaN and infinity,
// it returns e^x.
struct TaylorExpOp {
  uint32_t level;
  template <class T>
  T operator()(T value) const {
    const double x = Wide(value);
    if (level == 0 || x != x || __builtin_fabs(x) == __builtin_inf()) {
      return T(static_cast<float>(elementary::Exp(x)));
    }
    const double whole = elementary::Floor(x);
    const double rest = x - whole;
    double sum = 1.0;
    for (uint32_t n = level; n >= 1; --n) sum = sum * rest / n + 1.0;
    return T(static_cast<float>(elementary::Exp(whole) * sum));
  }
};

template <class T>
inline constexpr bool kTakesGeGLU = kOneOf<T, half, float>;
template <class T>
inline constexpr bool kTakesSwiGLU = kOneOf<T, half, float>;
template <class T>
inline constexpr bool kTakesReGlu = kOneOf<T, half, bfloat16_t, float>;
template <class T>
inline constexpr bool kTakesFmod = kOneOf<T, half, float>;
template <class T>
inline constexpr bool kTakesXor = kOneOf<T, int16_t, uint16_t>;

template <class Op, class T>
void RunTwo(const char* name, Loc loc, Op op, uint32_t count, const LocalTensor<T>& dst, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1) {
  RequireApart(name, loc, dst, src0, uint64_t{count} * sizeof(T));
  RequireApart(name, loc, dst, src1, uint64_t{count} * sizeof(T));
  RunCount(name, loc, op, static_cast<int32_t>(count), dst, src0, src1);
}

}  // namespace gn_twin

namespace AscendC {

// Defines the forms with or without a scratch tensor and a count. CONFIG: one more template parameter; SCALAR: one more
// parameter (both with their comma, or empty). CONFIG_NAME and SCALAR_NAME: the argument that passes it on.
#define GNT_TWO(NAME, OP, CONFIG, CONFIG_NAME, SCALAR, SCALAR_NAME)                                                    \
  template <class T, bool isReuseSource = false CONFIG>                                                                \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                  \
                   SCALAR const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) {                          \
    static_assert(gn_twin::kTakes##NAME<T>, #NAME " on Atlas A2 does not take this type");                             \
    gn_twin::RunTwo(#NAME, loc, OP, calCount, dst, src0, src1);                                                        \
  }                                                                                                                    \
  template <class T, bool isReuseSource = false CONFIG>                                                                \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                  \
                   SCALAR const gn_twin::Scratch&, const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) { \
    NAME<T, isReuseSource CONFIG_NAME>(dst, src0, src1, SCALAR_NAME calCount, loc);                                    \
  }                                                                                                                    \
  template <class T, bool isReuseSource = false CONFIG>                                                                \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                  \
                   SCALAR const gn_twin::Scratch&, gn_twin::Loc loc = gn_twin::Loc::here()) {                          \
    NAME<T, isReuseSource CONFIG_NAME>(dst, src0, src1, SCALAR_NAME src0.GetSize(), loc);                              \
  }                                                                                                                    \
  template <class T, bool isReuseSource = false CONFIG>                                                                \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                  \
                   SCALAR gn_twin::Loc loc = gn_twin::Loc::here()) {                                                   \
    NAME<T, isReuseSource CONFIG_NAME>(dst, src0, src1, SCALAR_NAME src0.GetSize(), loc);                              \
  }
#define GNT_FMOD_CONFIG , const FmodConfig& config = DEFAULT_FMOD_CONFIG
#define GNT_FMOD_CONFIG_NAME , config
#define GNT_BETA const float &scalarValue,
#define GNT_BETA_NAME scalarValue,

GNT_TWO(GeGLU, gn_twin::GeGluOp{}, , , , )
GNT_TWO(SwiGLU, gn_twin::SwiGluOp{scalarValue}, , , GNT_BETA, GNT_BETA_NAME)
GNT_TWO(ReGlu, gn_twin::ReGluOp{}, , , , )
GNT_TWO(Fmod, gn_twin::FmodOp{}, GNT_FMOD_CONFIG, GNT_FMOD_CONFIG_NAME, , )
GNT_TWO(Xor, gn_twin::XorOp{}, , , , )
#undef GNT_TWO
#undef GNT_FMOD_CONFIG
#undef GNT_FMOD_CONFIG_NAME
#undef GNT_BETA
#undef GNT_BETA_NAME

// ClampMax sets elements larger than the scalar to the scalar; ClampMin does so for smaller elements. NaN stays.
#define GNT_CLAMP(NAME, SCRATCH)                                                                 \
  template <class T, bool isReuseSource = false>                                                 \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, SCRATCH const T scalar, \
                   const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) {           \
    gn_twin::RunMaths(#NAME, loc, gn_twin::NAME##Op<T>{scalar}, calCount, dst, src, true);       \
  }
GNT_CLAMP(ClampMax, )
GNT_CLAMP(ClampMax, GNT_WITH_SCRATCH)
GNT_CLAMP(ClampMin, )
GNT_CLAMP(ClampMin, GNT_WITH_SCRATCH)
#undef GNT_CLAMP

#define GNT_TAYLOR_EXP(SCRATCH)                                                                          \
  template <class T, uint8_t taylorExpandLevel, bool isReuseSource = false>                              \
  inline void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, SCRATCH const uint32_t calCount, \
                  gn_twin::Loc loc = gn_twin::Loc::here()) {                                             \
    gn_twin::RunMaths("Exp", loc, gn_twin::TaylorExpOp{taylorExpandLevel}, calCount, dst, src, true);    \
  }
GNT_TAYLOR_EXP()
GNT_TAYLOR_EXP(GNT_WITH_SCRATCH)
#undef GNT_TAYLOR_EXP

// Adds scalar * src to dst, as the other forms of Axpy do. This form takes a scratch tensor.
template <class T, class U, bool isReuseSource = false>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U scalarValue, const gn_twin::Scratch&,
                 const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) {
  Axpy(dst, src, scalarValue, static_cast<int32_t>(calCount), loc);
}

}  // namespace AscendC
