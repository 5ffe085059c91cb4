// AddReluCast, SubReluCast: Relu of the sum or difference of two sources, converted to a narrower type.
//
// Source: docs/zh/api, Memory矢量计算/复合计算/AddReluCast and SubReluCast. The sum has the sources' type, as in AddRelu; the
// documentation does not say how the sum is rounded to the narrower type (docs/hardware-choices.md). int8_t results
// are clamped, as by Cast.
#pragma once
#include "gn_twin/basic_api/vector/binary.h"
#include "gn_twin/basic_api/vector/cast.h"

namespace gn_twin {

template <class D, class Relu>
struct ReluThenCast {
  Relu relu;
  template <class S>
  D operator()(S a, S b) const {
    return CastOp<D, S, AscendC::RoundMode::CAST_RINT>{}(relu(a, b));
  }
};
template <class D, class S>
inline constexpr bool kReluCasts = kSame<D, int8_t> ? kOneOf<S, half, int16_t> : kSame<D, half> && kSame<S, float>;

}  // namespace gn_twin

namespace AscendC {

#define GNT_RELU_CAST(NAME, OP)                                                                                        \
  template <class T, class U>                                                                                          \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                  \
                   const uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {                                    \
    static_assert(gn_twin::kReluCasts<T, U>, #NAME " on Atlas A2 makes half of float, and int8_t of half or int16_t"); \
    gn_twin::RunCount(#NAME, loc, gn_twin::ReluThenCast<T, gn_twin::ThenRelu<gn_twin::OP>>{},                          \
                      static_cast<int32_t>(count), dst, src0, src1);                                                   \
  }                                                                                                                    \
  template <class T, class U, bool isSetMask = true, class Mask>                                                       \
    requires gn_twin::kIsMask<Mask>                                                                                    \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, Mask mask,       \
                   const gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,                       \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                          \
    static_assert(gn_twin::kReluCasts<T, U>, #NAME " on Atlas A2 makes half of float, and int8_t of half or int16_t"); \
    gn_twin::RunBinary<isSetMask>(#NAME, loc, gn_twin::ReluThenCast<T, gn_twin::ThenRelu<gn_twin::OP>>{}, mask,        \
                                  repeatTime, repeatParams, dst, src0, src1);                                          \
  }
GNT_RELU_CAST(AddReluCast, AddOp)
GNT_RELU_CAST(SubReluCast, SubOp)
#undef GNT_RELU_CAST

}  // namespace AscendC
