// Bitwise And, Or and Not of 16-bit elements. A kernel reinterprets a wider tensor and doubles the count.
//
// Source: docs/zh/api, Memory矢量计算/逻辑计算; for And and Or of other types asc-devkit, kernel_operator_vec_binary_impl.h.
#pragma once
#include "gn_twin/basic_api/vector/forms.h"

namespace gn_twin {

struct AndOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct OrOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct NotOp {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};

// Whether the count form takes elements of type T without a warning. The count of a 32-bit tensor is in 16-bit units
// too. As in older versions, And and Or also compile for all other types, with a warning and 16-bit units.
template <class T>
inline constexpr bool kOfWords = kOneOf<T, int16_t, uint16_t, int32_t, uint32_t>;
template <class T>
inline auto SixteenBit(const LocalTensor<T>& tensor) {
  return tensor.template ReinterpretCast<uint16_t>();
}
template <class T>
inline void NoteWords(const char* op, int32_t count, Loc loc) {
  if constexpr (!kOfWords<T>) {
    const FieldList fields{{"op", op}, {"count", count}, {"bytes", uint64_t{2} * count}, {"size", sizeof(T)}};
    ThisCore().Warn("logic-in-words", loc, {}, fields);
  }
}

}  // namespace gn_twin

namespace AscendC {

#define GNT_LOGIC(NAME, OP)                                                                                      \
  template <class T, bool isSetMask = true>                                                                      \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,            \
                   const int32_t& count, gn_twin::Loc loc = gn_twin::Loc::here()) {                              \
    gn_twin::NoteWords<T>(#NAME, count, loc);                                                                    \
    gn_twin::RunCount(#NAME, loc, gn_twin::OP{}, count, gn_twin::SixteenBit(dst), gn_twin::SixteenBit(src0),     \
                      gn_twin::SixteenBit(src1));                                                                \
  }                                                                                                              \
  template <class T, bool isSetMask = true, class Mask>                                                          \
    requires gn_twin::kIsMask<Mask>                                                                              \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, Mask mask, \
                   const gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,                 \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                    \
    static_assert(gn_twin::kOneOf<T, int16_t, uint16_t>,                                                         \
                  #NAME " on Atlas A2 takes int16_t, uint16_t: ReinterpretCast first");                          \
    gn_twin::RunBinary<isSetMask>(#NAME, loc, gn_twin::OP{}, mask, repeatTime, repeatParams, dst, src0, src1);   \
  }
GNT_LOGIC(And, AndOp)
GNT_LOGIC(Or, OrOp)
#undef GNT_LOGIC

template <class T, bool isSetMask = true>
inline void Not(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,
                gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOfWords<T>, "Not on Atlas A2 takes 16-bit integers: ReinterpretCast first");
  gn_twin::RunCount("Not", loc, gn_twin::NotOp{}, count, gn_twin::SixteenBit(dst), gn_twin::SixteenBit(src));
}
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Not(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, const gn_twin::RepeatTime repeatTime,
                const UnaryRepeatParams& repeatParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, int16_t, uint16_t>,
                "Not on Atlas A2 takes int16_t, uint16_t: ReinterpretCast first");
  gn_twin::RunUnary<isSetMask>("Not", loc, gn_twin::NotOp{}, mask, repeatTime, repeatParams, dst, src);
}

}  // namespace AscendC
