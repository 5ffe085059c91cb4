// Power: element-wise x^y of two tensors, or of a tensor and a scalar on either side.
//
// Source: docs/zh/api, 高阶API/数学计算/Power. half and float are computed as by C's pow. Results of int32_t wrap
// around; if the exponent is negative, they are the whole part of the exact value, or 0 for base 0
// (docs/hardware-choices.md).
#pragma once
#include "gn_twin/adv_api/math_functions.h"

namespace gn_twin {

struct PowerOp {
  template <class T>
  T operator()(T base, T exponent) const {
    if constexpr (kSame<T, int32_t>) {
      if (exponent < 0) return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
      uint32_t result = 1;
      for (uint32_t factor = static_cast<uint32_t>(base), rest = static_cast<uint32_t>(exponent); rest != 0;
           rest /= 2) {
        if (rest % 2 != 0) result *= factor;
        factor *= factor;
      }
      return static_cast<int32_t>(result);
    } else {
      return T(static_cast<float>(elementary::Pow(static_cast<float>(base), static_cast<float>(exponent))));
    }
  }
};
template <class T>
struct PowerOfTensor {
  T exponent;
  T operator()(T base) const { return PowerOp{}(base, exponent); }
};
template <class T>
struct PowerOfScalar {
  T base;
  T operator()(T exponent) const { return PowerOp{}(base, exponent); }
};

template <class T>
void RunPower(Loc loc, uint32_t count, const LocalTensor<T>& dst, const LocalTensor<T>& src0,
              const LocalTensor<T>& src1) {
  static_assert(kOneOf<T, half, float, int32_t>, "Power on Atlas A2 takes half, float, int32_t");
  RequireApart("Power", loc, dst, src0, uint64_t{count} * sizeof(T));
  RequireApart("Power", loc, dst, src1, uint64_t{count} * sizeof(T));
  RunCount("Power", loc, PowerOp{}, static_cast<int32_t>(count), dst, src0, src1);
}
template <class T>
void RunPower(Loc loc, uint32_t count, const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1) {
  static_assert(kOneOf<T, half, float, int32_t>, "Power on Atlas A2 takes half, float, int32_t");
  RequireApart("Power", loc, dst, src0, uint64_t{count} * sizeof(T));
  RunCount("Power", loc, PowerOfTensor<T>{src1}, static_cast<int32_t>(count), dst, src0);
}
template <class T>
void RunPower(Loc loc, uint32_t count, const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1) {
  static_assert(kOneOf<T, half, float, int32_t>, "Power on Atlas A2 takes half, float, int32_t");
  RequireApart("Power", loc, dst, src1, uint64_t{count} * sizeof(T));
  RunCount("Power", loc, PowerOfScalar<T>{src0}, static_cast<int32_t>(count), dst, src1);
}

}  // namespace gn_twin

namespace AscendC {

// The algorithms of Power. Atlas A2 has only INTRINSIC; DOUBLE_FLOAT_TECH is for other products.
enum class PowerAlgo { INTRINSIC = 0, DOUBLE_FLOAT_TECH };
struct PowerConfig {
  PowerAlgo algo = PowerAlgo::INTRINSIC;
};
constexpr PowerConfig defaultPowerConfig = {PowerAlgo::INTRINSIC};

// FIRST and SECOND: the types of the operands; WHOLE: the operand whose length is the default count.
#define GNT_POWER(FIRST, SECOND, WHOLE)                                                                             \
  template <class T, bool isReuseSource = false, PowerConfig config = defaultPowerConfig>                           \
  inline void Power(const LocalTensor<T>& dst, FIRST src0, SECOND src1, uint32_t calCount,                          \
                    gn_twin::Loc loc = gn_twin::Loc::here()) {                                                      \
    static_assert(config.algo == PowerAlgo::INTRINSIC, "Power on Atlas A2 takes no config");                        \
    gn_twin::RunPower(loc, calCount, dst, src0, src1);                                                              \
  }                                                                                                                 \
  template <class T, bool isReuseSource = false, PowerConfig config = defaultPowerConfig>                           \
  inline void Power(const LocalTensor<T>& dst, FIRST src0, SECOND src1, const gn_twin::Scratch&, uint32_t calCount, \
                    gn_twin::Loc loc = gn_twin::Loc::here()) {                                                      \
    static_assert(config.algo == PowerAlgo::INTRINSIC, "Power on Atlas A2 takes no config");                        \
    gn_twin::RunPower(loc, calCount, dst, src0, src1);                                                              \
  }                                                                                                                 \
  template <class T, bool isReuseSource = false, PowerConfig config = defaultPowerConfig>                           \
  inline void Power(const LocalTensor<T>& dst, FIRST src0, SECOND src1, const gn_twin::Scratch&,                    \
                    gn_twin::Loc loc = gn_twin::Loc::here()) {                                                      \
    static_assert(config.algo == PowerAlgo::INTRINSIC, "Power on Atlas A2 takes no config");                        \
    gn_twin::RunPower(loc, WHOLE.GetSize(), dst, src0, src1);                                                       \
  }                                                                                                                 \
  template <class T, bool isReuseSource = false, PowerConfig config = defaultPowerConfig>                           \
  inline void Power(const LocalTensor<T>& dst, FIRST src0, SECOND src1, gn_twin::Loc loc = gn_twin::Loc::here()) {  \
    static_assert(config.algo == PowerAlgo::INTRINSIC, "Power on Atlas A2 takes no config");                        \
    gn_twin::RunPower(loc, WHOLE.GetSize(), dst, src0, src1);                                                       \
  }
GNT_POWER(const LocalTensor<T>&, const LocalTensor<T>&, src0)
GNT_POWER(const LocalTensor<T>&, const T&, src0)
GNT_POWER(const T&, const LocalTensor<T>&, src1)
#undef GNT_POWER

}  // namespace AscendC
