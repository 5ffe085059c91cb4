// Instructions with two sources and one result: Add, Sub, Mul, Div, Max, Min, AddRelu, SubRelu.
//
// Source: docs/zh/api, Memory矢量计算/基础算术 and 复合计算. No bfloat16 and no 8-bit arithmetic on this architecture.
#pragma once
#include "gn_twin/basic_api/vector/forms.h"

namespace gn_twin {

// Integer results of Add, Sub and Mul that do not fit wrap around or are clamped, as an option says
// (docs/hardware-choices.md, integer_overflow), because the device's behaviour is not public. The option is read once
// per instruction (`clamp`). Results of AddRelu and SubRelu always wrap around.
template <class T>
inline T WrapInteger(int64_t value) {
  return static_cast<T>(value);
}
template <class T>
inline T ClampInteger(int64_t value) {
  constexpr int64_t kMax = (int64_t{1} << (8 * sizeof(T) - 1)) - 1;
  return static_cast<T>(value > kMax ? kMax : (value < -kMax - 1 ? -kMax - 1 : value));
}

#define GNT_ARITHMETIC(NAME, SIGN)                                     \
  struct NAME {                                                        \
    bool clamp = false;                                                \
    template <class T>                                                 \
    T operator()(T a, T b) const {                                     \
      if constexpr (kOneOf<T, half, float>) {                          \
        return T(static_cast<float>(a) SIGN static_cast<float>(b));    \
      } else {                                                         \
        const int64_t exact = int64_t{a} SIGN int64_t{b};              \
        return clamp ? ClampInteger<T>(exact) : WrapInteger<T>(exact); \
      }                                                                \
    }                                                                  \
  };
GNT_ARITHMETIC(AddOp, +)
GNT_ARITHMETIC(SubOp, -)
GNT_ARITHMETIC(MulOp, *)
#undef GNT_ARITHMETIC

struct DivOp {
  using LeavesNumbers = void;
  template <class T>
  T operator()(T a, T b) const {
    return T(static_cast<float>(a) / static_cast<float>(b));
  }
};

// Returns the larger (or smaller) operand. Zeros of both signs compare equal, and the first operand is kept. For NaN
// see docs/hardware-choices.md, minmax_nan.
template <bool kLargest>
struct ExtremeOp {
  bool ignore_nan = false;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kOneOf<T, half, float>) {
      const float x = static_cast<float>(a);
      const float y = static_cast<float>(b);
      const T winner = (kLargest ? x >= y : x <= y) ? a : b;
      return ignore_nan ? (x != x ? b : (y != y ? a : winner)) : (x != x ? a : winner);
    } else {
      return (kLargest ? a >= b : a <= b) ? a : b;
    }
  }
};
using MaxOp = ExtremeOp<true>;
using MinOp = ExtremeOp<false>;

// Returns the Relu of a sum or difference. The sum is rounded before the Relu, as by two instructions.
template <class Inner>
struct ThenRelu {
  Inner inner;
  template <class T>
  T operator()(T a, T b) const {
    const T value = inner(a, b);
    return static_cast<float>(value) < 0.0f ? T(0) : value;
  }
};

inline bool Clamps(const Core& core) { return core.job->options.integer_overflow != 0; }
inline bool IgnoresNan(const Core& core) { return core.job->options.minmax_nan != 0; }

// Calls run(op) with the operation that this launch's options choose.
template <class Op, class T, class Run>
inline void WithOptions(Run run) {
  const Core& core = ThisCore();
  if constexpr (kOneOf<Op, MaxOp, MinOp>) {
    IgnoresNan(core) ? run(Op{true}) : run(Op{false});
  } else if constexpr (kOneOf<Op, AddOp, SubOp, MulOp> && !kOneOf<T, half, float>) {
    Clamps(core) ? run(Op{true}) : run(Op{false});
  } else {
    run(Op{});
  }
}

}  // namespace gn_twin

namespace AscendC {

// A kernel may take the address of an instruction, as void (*)(const LocalTensor<T>&, ...) with the parameters that the
// documentation lists. The overloads that return R, without `loc`, exist for such pointers. A call never selects them,
// because a call cannot deduce R, which is only the result type; the type of a pointer can. All instructions whose
// address kernels take have such overloads.
#define GNT_BINARY(NAME, OP, ...)                                                                                      \
  template <class T, bool isSetMask = true>                                                                            \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                  \
                   const int32_t& count, gn_twin::Loc loc = gn_twin::Loc::here()) {                                    \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                          \
    gn_twin::WithOptions<gn_twin::OP, T>([&](auto op) { gn_twin::RunCount(#NAME, loc, op, count, dst, src0, src1); }); \
  }                                                                                                                    \
  template <class T, bool isSetMask = true, class Mask>                                                                \
    requires gn_twin::kIsMask<Mask>                                                                                    \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, Mask mask,       \
                   const gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,                       \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                          \
    static_assert(gn_twin::kOneOf<T, __VA_ARGS__>, #NAME " on Atlas A2 takes " #__VA_ARGS__);                          \
    gn_twin::WithOptions<gn_twin::OP, T>([&](auto op) {                                                                \
      gn_twin::RunBinary<isSetMask>(#NAME, loc, op, mask, repeatTime, repeatParams, dst, src0, src1);                  \
    });                                                                                                                \
  }                                                                                                                    \
  template <class T, bool isSetMask = true, class R>                                                                   \
  inline R NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                     \
                const int32_t& count) {                                                                                \
    return NAME<T, isSetMask>(dst, src0, src1, count, gn_twin::Loc{});                                                 \
  }                                                                                                                    \
  template <class T, bool isSetMask = true, class R>                                                                   \
  inline R NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,      \
                const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {                                    \
    return NAME<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, gn_twin::Loc{});                        \
  }

GNT_BINARY(Add, AddOp, int16_t, half, int32_t, float)
GNT_BINARY(Sub, SubOp, int16_t, half, int32_t, float)
GNT_BINARY(Mul, MulOp, int16_t, half, int32_t, float)
GNT_BINARY(Div, DivOp, half, float)
GNT_BINARY(Max, MaxOp, int16_t, half, int32_t, float)
GNT_BINARY(Min, MinOp, int16_t, half, int32_t, float)
GNT_BINARY(AddRelu, ThenRelu<gn_twin::AddOp>, int16_t, half, float)
GNT_BINARY(SubRelu, ThenRelu<gn_twin::SubOp>, int16_t, half, float)
#undef GNT_BINARY

// The algorithms of Div. Atlas A2 has only INTRINSIC; the others are for other products. Kernels for several products
// define a DivConfig whether or not they use it.
enum class DivAlgo {
  INTRINSIC = 0,
  DIFF_COMPENSATION,
  PRECISION_1ULP_FTZ_TRUE,
  PRECISION_0ULP_FTZ_TRUE,
  PRECISION_0ULP_FTZ_FALSE,
  PRECISION_1ULP_FTZ_FALSE
};
// Div takes a DivConfig by value. In the documentation it takes a reference, but g++ 12 crashes on a reference to a
// static member of a class template.
struct DivConfig {
  DivAlgo algo = DivAlgo::INTRINSIC;
};
constexpr DivConfig DEFAULT_DIV_CONFIG = {DivAlgo::INTRINSIC};

template <class T, DivConfig config>
inline void Div(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count,
                gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(config.algo == DivAlgo::INTRINSIC, "Div on Atlas A2 takes no config");
  Div(dst, src0, src1, count, loc);
}

}  // namespace AscendC
