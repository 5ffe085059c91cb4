// Multiply and accumulate: Axpy, MulAddDst, FusedMulAdd, FusedMulAddRelu. The destination is also a source.
//
// Source: docs/zh/api, Memory矢量计算/复合计算. Axpy and MulAddDst also take half sources with a float destination. Then a
// repeat has 64 lanes, and contiguous repeats have strides of 8 blocks in the destination, 4 in the sources.
#pragma once
#include "gn_twin/basic_api/vector/forms.h"

namespace gn_twin {

// Returns dst + scalar * src. Whether the product is rounded first is a choice (docs/hardware-choices.md, axpy_fused).
struct AxpyOp {
  using Accumulates = void;
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
  using Accumulates = void;
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
// Returns src0 * dst + src1, in the operand order of the documentation.
struct FusedMulAddOp {
  using Accumulates = void;
  template <class T>
  T operator()(T dst, T a, T b) const {
    return T(static_cast<float>(T(static_cast<float>(a) * static_cast<float>(dst))) + static_cast<float>(b));
  }
};

// Returns what FusedMulAddOp returns, with negative results set to 0.
struct FusedMulAddReluOp {
  using Accumulates = void;
  template <class T>
  T operator()(T dst, T a, T b) const {
    const T sum = FusedMulAddOp{}(dst, a, b);
    return static_cast<float>(sum) < 0.0f ? T(0.0f) : sum;
  }
};

}  // namespace gn_twin

namespace AscendC {

template <class T, class U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float> && (gn_twin::kSame<T, U> || gn_twin::kSame<U, half>),
                "Axpy on Atlas A2 takes half to half, float to float or half to float");
  gn_twin::ThisCore().NoteNumber("Axpy", loc, scalarValue);
  const gn_twin::AxpyOp op{static_cast<float>(scalarValue), gn_twin::ThisCore().job->options.axpy_fused != 0};
  gn_twin::RunCount("Axpy", loc, op, count, dst, dst, src);
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, Mask mask,
                 const gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float> && (gn_twin::kSame<T, U> || gn_twin::kSame<U, half>),
                "Axpy on Atlas A2 takes half to half, float to float or half to float");
  gn_twin::ThisCore().NoteNumber("Axpy", loc, scalarValue);
  const gn_twin::AxpyOp op{static_cast<float>(scalarValue), gn_twin::ThisCore().job->options.axpy_fused != 0};
  gn_twin::RequireStrides("Axpy", repeatParams, loc);
  const gn_twin::Strides to{repeatParams.dstBlkStride, repeatParams.dstRepStride};
  const gn_twin::Plan plan =
      gn_twin::MaskedPlan("Axpy", loc, isSetMask, mask, gn_twin::kRepeatBytes / gn_twin::kWidest<T, U>, repeatTime);
  gn_twin::RunPlan("Axpy", loc, op, plan, gn_twin::Arg<T>{dst, to}, gn_twin::Arg<T>{dst, to},
                   gn_twin::Arg<U>{src, {repeatParams.srcBlkStride, repeatParams.srcRepStride}});
}

}  // namespace AscendC

namespace gn_twin {

template <bool kSetMask, class Op, class Mask, class T, class U>
void RunTernary(const char* name, Loc loc, Op op, Mask mask, RepeatTime repeats,
                const AscendC::BinaryRepeatParams& params, const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                const LocalTensor<U>& src1) {
  const Strides to{params.dstBlkStride, params.dstRepStride};
  RequireStrides(name, params, loc);
  const Plan plan = MaskedPlan(name, loc, kSetMask, mask, kRepeatBytes / kWidest<T, U>, repeats);
  RunPlan(name, loc, op, plan, Arg<T>{dst, to}, Arg<T>{dst, to},
          Arg<U>{src0, {params.src0BlkStride, params.src0RepStride}},
          Arg<U>{src1, {params.src1BlkStride, params.src1RepStride}});
}

}  // namespace gn_twin

namespace AscendC {

template <class T, class U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                      const int32_t& count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunCount("MulAddDst", loc, gn_twin::MulAddDstOp{}, count, dst, dst, src0, src1);
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, Mask mask,
                      const gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
                      gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunTernary<isSetMask>("MulAddDst", loc, gn_twin::MulAddDstOp{}, mask, repeatTime, repeatParams, dst, src0,
                                 src1);
}

template <class T, bool isSetMask = true>
inline void FusedMulAdd(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                        const int32_t& count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunCount("FusedMulAdd", loc, gn_twin::FusedMulAddOp{}, count, dst, dst, src0, src1);
}
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void FusedMulAdd(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, Mask mask,
                        const gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
                        gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunTernary<isSetMask>("FusedMulAdd", loc, gn_twin::FusedMulAddOp{}, mask, repeatTime, repeatParams, dst,
                                 src0, src1);
}

template <class T, bool isSetMask = true>
inline void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            const int32_t& count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunCount("FusedMulAddRelu", loc, gn_twin::FusedMulAddReluOp{}, count, dst, dst, src0, src1);
}
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            Mask mask, const gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
                            gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunTernary<isSetMask>("FusedMulAddRelu", loc, gn_twin::FusedMulAddReluOp{}, mask, repeatTime, repeatParams,
                                 dst, src0, src1);
}

}  // namespace AscendC
