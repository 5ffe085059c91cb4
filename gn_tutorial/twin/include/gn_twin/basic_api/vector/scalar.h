// Instructions with a tensor and a scalar as sources: Adds, Muls, Maxs, Mins, LeakyRelu, ShiftLeft, ShiftRight.
//
// Source: docs/zh/api, Memory矢量计算/基础算术 and 逻辑计算. The scalar has exactly the tensor's element type: a
// double literal with a float tensor does not compile, here as on the device.
#pragma once
#include "gn_twin/basic_api/vector/binary.h"

namespace gn_twin {

// Turns a two-operand operation into one of one operand, with a fixed scalar as the second.
template <class Op, class T>
struct WithScalar {
  using OfNumber = Op;
  Op op;
  T scalar;
  T operator()(T value) const { return op(value, scalar); }
};

struct LeakyReluOp {
  template <class T>
  T operator()(T value, T slope) const {
    return static_cast<float>(value) >= 0.0f ? value : T(static_cast<float>(value) * static_cast<float>(slope));
  }
};
struct ShiftLeftOp {
  template <class T>
  T operator()(T value, T amount) const {
    return static_cast<uint64_t>(amount) >= 8 * sizeof(T) ? T(0)
                                                          : static_cast<T>(static_cast<uint64_t>(value) << amount);
  }
};
// Shifts of signed types are arithmetic. `round` adds the last bit shifted out.
struct ShiftRightOp {
  bool round = false;
  template <class T>
  T operator()(T value, T amount) const {
    const uint64_t by =
        static_cast<uint64_t>(amount) < 8 * sizeof(T) ? static_cast<uint64_t>(amount) : 8 * sizeof(T) - 1;
    const int64_t shifted = int64_t{value} >> by;
    if (static_cast<uint64_t>(amount) >= 8 * sizeof(T)) return static_cast<T>(int64_t{value} < 0 ? -1 : 0);
    return static_cast<T>(shifted + (round && by > 0 ? (int64_t{value} >> (by - 1)) & 1 : 0));
  }
};

// Runs the count form. With kSetMask false the count is ignored and the mask register decides, as in the device's
// header.
template <bool kSetMask, class Op, class T>
void RunCountScalar(const char* name, Loc loc, Op op, const LocalTensor<T>& dst, const LocalTensor<T>& src, T scalar,
                    int32_t count) {
  ThisCore().NoteNumber(name, loc, scalar);
  const WithScalar<Op, T> with{op, scalar};
  if constexpr (kSetMask) {
    RunCount(name, loc, with, count, dst, src);
  } else {
    RunPlan(name, loc, with, PlanFromRegister(ThisCore(), kLanes<T>, 1), Arg<T>{dst}, Arg<T>{src});
  }
}

}  // namespace gn_twin

namespace AscendC {

// Kernels also take the address of the count form, as void (*)(const LocalTensor<T>&, const LocalTensor<T>&, const T&,
// const int32_t&). The second overload exists only for such pointers: see GNT_BINARY.
#define GNT_SCALAR(NAME, OP, ...)                                                                                    \
  template <class T, bool isSetMask = true>                                                                          \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count, \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                        \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                        \
    gn_twin::WithOptions<gn_twin::OP, T>(                                                                            \
        [&](auto op) { gn_twin::RunCountScalar<isSetMask>(#NAME, loc, op, dst, src, scalarValue, count); });         \
  }                                                                                                                  \
  template <class T, bool isSetMask = true, class R>                                                                 \
  inline R NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count) {  \
    return NAME<T, isSetMask>(dst, src, scalarValue, count, gn_twin::Loc{});                                         \
  }                                                                                                                  \
  template <class T, bool isSetMask = true, class Mask>                                                              \
    requires gn_twin::kIsMask<Mask>                                                                                  \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, Mask mask,            \
                   const gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,                      \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                        \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                        \
    gn_twin::ThisCore().NoteNumber(#NAME, loc, scalarValue);                                                         \
    gn_twin::WithOptions<gn_twin::OP, T>([&](auto op) {                                                              \
      gn_twin::RunUnary<isSetMask>(#NAME, loc, gn_twin::WithScalar<decltype(op), T>{op, scalarValue}, mask,          \
                                   repeatTime, repeatParams, dst, src);                                              \
    });                                                                                                              \
  }

GNT_SCALAR(Adds, AddOp, int16_t, half, int32_t, float)
GNT_SCALAR(Muls, MulOp, int16_t, half, int32_t, float)
GNT_SCALAR(Maxs, MaxOp, int16_t, half, int32_t, float)
GNT_SCALAR(Mins, MinOp, int16_t, half, int32_t, float)
GNT_SCALAR(LeakyRelu, LeakyReluOp, half, float)
GNT_SCALAR(ShiftLeft, ShiftLeftOp, int16_t, uint16_t, int32_t, uint32_t)
GNT_SCALAR(ShiftRight, ShiftRightOp, int16_t, uint16_t, int32_t, uint32_t)
#undef GNT_SCALAR

// ShiftRight with rounding: if roundEn, the last bit shifted out is added.
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, Mask mask,
                       const gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn,
                       gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, int16_t, uint16_t, int32_t, uint32_t>,
                "ShiftRight on Atlas A2 takes int16_t, uint16_t, int32_t, uint32_t");
  gn_twin::RunUnary<isSetMask>("ShiftRight", loc, gn_twin::WithScalar<gn_twin::ShiftRightOp, T>{{roundEn}, scalarValue},
                               mask, repeatTime, repeatParams, dst, src);
}

}  // namespace AscendC
