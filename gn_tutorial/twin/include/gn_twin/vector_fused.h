// Multiply and accumulate: Axpy, MulAddDst, FusedMulAdd. The destination is also a source.
//
// Source: docs/zh/api, Memory矢量计算/复合计算. Sources may be half with a float destination: then a repeat has 64 lanes and the
// natural repeat strides are 8 blocks for the destination, 4 for the sources.
#pragma once
#include "gn_twin/vector_forms.h"

namespace gn_twin {

// dst + scalar * src. Whether the device rounds the product first: docs/hardware-choices.md, axpy_fused.
struct AxpyOp {
  float scalar;
  bool fused = false;
  template <class T, class U>
  T operator()(T dst, U src) const {
    const float x = static_cast<float>(src);
    const float y = static_cast<float>(dst);
    if (fused) return T(static_cast<float>(static_cast<double>(scalar) * x + y));
    if constexpr (kSame<T, half>) {
      return T(static_cast<float>(half(scalar * x)) + y);
    } else {
      return T(scalar * x + y);
    }
  }
};
struct MulAddDstOp {
  template <class T, class U>
  T operator()(T dst, U a, U b) const {
    const float product = static_cast<float>(a) * static_cast<float>(b);
    if constexpr (kSame<T, half>) {
      return T(static_cast<float>(half(product)) + static_cast<float>(dst));
    } else {
      return T(product + static_cast<float>(dst));
    }
  }
};
// The operand order of the documentation: src0 * dst + src1.
struct FusedMulAddOp {
  template <class T>
  T operator()(T dst, T a, T b) const {
    return T(static_cast<float>(T(static_cast<float>(a) * static_cast<float>(dst))) + static_cast<float>(b));
  }
};

}  // namespace gn_twin

namespace AscendC {

template <class T, class U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float> && (gn_twin::kSame<T, U> || gn_twin::kSame<U, half>),
                "Axpy on Atlas A2 takes half to half, float to float or half to float");
  const gn_twin::AxpyOp op{static_cast<float>(scalarValue), gn_twin::ThisCore().job->options.axpy_fused != 0};
  gn_twin::RunCount("Axpy", loc, op, count, dst, dst, src);
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, Mask mask, const uint8_t repeatTime,
                 const UnaryRepeatParams& repeatParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float> && (gn_twin::kSame<T, U> || gn_twin::kSame<U, half>),
                "Axpy on Atlas A2 takes half to half, float to float or half to float");
  const gn_twin::AxpyOp op{static_cast<float>(scalarValue), gn_twin::ThisCore().job->options.axpy_fused != 0};
  const gn_twin::Strides to{repeatParams.dstBlkStride, repeatParams.dstRepStride};
  const gn_twin::Plan plan =
      gn_twin::MaskedPlan(gn_twin::ThisCore(), isSetMask, mask, gn_twin::kRepeatBytes / gn_twin::kWidest<T, U>, repeatTime);
  gn_twin::RunPlan("Axpy", loc, op, plan, gn_twin::Arg<T>{dst, to}, gn_twin::Arg<T>{dst, to},
                   gn_twin::Arg<U>{src, {repeatParams.srcBlkStride, repeatParams.srcRepStride}});
}

#define GNT_TERNARY(NAME, OP)                                                                                                   \
  template <class T, class U, bool isSetMask = true>                                                                            \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, const int32_t& count,     \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                                   \
    gn_twin::RunCount(#NAME, loc, gn_twin::OP{}, count, dst, dst, src0, src1);                                                  \
  }                                                                                                                             \
  template <class T, class U, bool isSetMask = true, class Mask>                                                                \
    requires gn_twin::kIsConstMask<Mask>                                                                                        \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, Mask mask,                \
                   const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,                                            \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                                   \
    const gn_twin::Strides to{repeatParams.dstBlkStride, repeatParams.dstRepStride};                                            \
    const gn_twin::Plan plan =                                                                                                  \
        gn_twin::MaskedPlan(gn_twin::ThisCore(), isSetMask, mask, gn_twin::kRepeatBytes / gn_twin::kWidest<T, U>, repeatTime);  \
    gn_twin::RunPlan(#NAME, loc, gn_twin::OP{}, plan, gn_twin::Arg<T>{dst, to}, gn_twin::Arg<T>{dst, to},                       \
                     gn_twin::Arg<U>{src0, {repeatParams.src0BlkStride, repeatParams.src0RepStride}},                           \
                     gn_twin::Arg<U>{src1, {repeatParams.src1BlkStride, repeatParams.src1RepStride}});                          \
  }

GNT_TERNARY(MulAddDst, MulAddDstOp)
GNT_TERNARY(FusedMulAdd, FusedMulAddOp)
#undef GNT_TERNARY

}  // namespace AscendC
