// Compare, CompareScalar, Compares: one bit per element; Select: choose by those bits.
//
// Source: docs/zh/api, 比较与选择. Bit i of the result, lowest bit of each byte first, is src0[i] op src1[i].
#pragma once
#include "gn_twin/vector_forms.h"

namespace gn_twin {

using AscendC::CMPMODE;
using AscendC::SELMODE;

// Comparisons with NaN are false, except NE unless quiet_nan (docs/hardware-choices.md, compare_nan).
template <class T>
inline bool Holds(CMPMODE mode, T a, T b, bool quiet_nan) {
  switch (mode) {
    case CMPMODE::LT: return a < b;
    case CMPMODE::GT: return a > b;
    case CMPMODE::EQ: return a == b;
    case CMPMODE::LE: return a <= b;
    case CMPMODE::GE: return a >= b;
    case CMPMODE::NE: return a != b && (!quiet_nan || (a == a && b == b));
  }
  return false;
}

template <class T>
inline auto Comparable(T value) {
  if constexpr (kSame<T, half>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class T>
void RequireCompareMode(Operation& operation, const char* op, CMPMODE mode) {
  if (kSame<T, int32_t> && mode != CMPMODE::EQ) operation.Stop("compare-int32-mode", {{"op", op}});
}

// `repeats` repeats of E(T) elements; each writes E(T) / 8 bytes, one after the other. The mask register plays no part.
template <class T, class U, class Second>
void RunCompare(const char* name, Loc loc, CMPMODE mode, uint32_t repeats, const LocalTensor<U>& dst, Strides strides0,
                const LocalTensor<T>& src0, const LocalTensor<T>* src1, Strides strides1, Second second) {
  static_assert(kOneOf<T, half, float, int32_t>, "comparisons on Atlas A2 take half, float, int32_t (EQ only)");
  constexpr uint32_t kE = kLanes<T>;
  Plan plan;
  plan.repeats = repeats;
  plan.lanes = plan.first = plan.last = kE;
  if constexpr (kObserved) {
    Operation operation(name, Kind::Vector, Pipe::V, loc);
    RequireCompareMode<T>(operation, name, mode);
    operation.Local("dst", dst, uint64_t{repeats} * kE / 8, Access::Write);
    operation.Local("src0", src0, Extent(plan, strides0, sizeof(T)), Access::Read).Strides(strides0.blk, strides0.rep);
    if (src1 != nullptr) {
      operation.Local("src1", *src1, Extent(plan, strides1, sizeof(T)), Access::Read)
          .Strides(strides1.blk, strides1.rep);
    }
    operation.Emit(plan, sizeof(T));
  }
  const bool quiet_nan = ThisCore().job->options.compare_nan != 0;
  uint8_t* out = dst.Bytes();
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    uint8_t bits[kE / 8] = {};
    for (uint32_t lane = 0; lane < kE; ++lane) {
      const auto a = Comparable(src0.Data()[LaneIndex<T>(strides0, repeat, lane)]);
      const bool holds = Holds(mode, a, Comparable(second(repeat, lane)), quiet_nan);
      bits[lane / 8] = static_cast<uint8_t>(bits[lane / 8] | (holds ? 1u << (lane % 8) : 0u));
    }
    __builtin_memcpy(out + repeat * (kE / 8), bits, sizeof(bits));
  }
}

// Count forms process whole repeats only: the device drops the rest of the elements silently, the twin stops.
template <class T>
inline uint32_t WholeRepeats(const char* op, uint32_t count, Loc loc) {
  if constexpr (kObserved) {
    if (uint64_t{count} * sizeof(T) % kRepeatBytes != 0) {
      ThisCore().Stop("compare-not-whole-repeats", loc,
                      {{"op", op},
                       {"count", count},
                       {"element_bytes", sizeof(T)},
                       {"done", uint64_t{count} * sizeof(T) / kRepeatBytes * kLanes<T>}});
    }
  }
  return static_cast<uint32_t>(uint64_t{count} * sizeof(T) / kRepeatBytes);
}

}  // namespace gn_twin

namespace AscendC {

template <class T, class U>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunCompare(
      "Compare", loc, cmpMode, gn_twin::WholeRepeats<T>("Compare", count, loc), dst, {}, src0, &src1, {},
      [at = src1.Data()](uint32_t repeat, uint32_t lane) { return at[gn_twin::LaneIndex<T>({}, repeat, lane)]; });
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    Mask, gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Strides strides{repeatParams.src1BlkStride, repeatParams.src1RepStride};
  gn_twin::RequireStrides("Compare", repeatParams, loc);
  gn_twin::RunCompare(
      "Compare", loc, cmpMode,
      gn_twin::CounterRepeats(gn_twin::ThisCore(), repeatTime.Checked("Compare", loc), gn_twin::kLanes<T>), dst,
      {repeatParams.src0BlkStride, repeatParams.src0RepStride}, src0, &src1, strides,
      [at = src1.Data(), strides](uint32_t repeat, uint32_t lane) {
        return at[gn_twin::LaneIndex<T>(strides, repeat, lane)];
      });
}

// Against a scalar. Compares is the name of 9.x.
#define GNT_COMPARE_SCALAR(NAME)                                                                                     \
  template <class T, class U>                                                                                        \
  inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,       \
                   uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {                                        \
    gn_twin::RunCompare<T, U>(#NAME, loc, cmpMode, gn_twin::WholeRepeats<T>(#NAME, count, loc), dst, {}, src0,       \
                              nullptr, {}, [src1Scalar](uint32_t, uint32_t) { return src1Scalar; });                 \
  }                                                                                                                  \
  template <class T, class U, bool isSetMask = true, class Mask>                                                     \
    requires gn_twin::kIsConstMask<Mask>                                                                             \
  inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode, Mask, \
                   gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,                            \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                        \
    gn_twin::RunCompare<T, U>(                                                                                       \
        #NAME, loc, cmpMode,                                                                                         \
        gn_twin::CounterRepeats(gn_twin::ThisCore(), repeatTime.Checked(#NAME, loc), gn_twin::kLanes<T>), dst,       \
        {repeatParams.srcBlkStride, repeatParams.srcRepStride}, src0, nullptr, {},                                   \
        [src1Scalar](uint32_t, uint32_t) { return src1Scalar; });                                                    \
  }
GNT_COMPARE_SCALAR(CompareScalar)
GNT_COMPARE_SCALAR(Compares)
#undef GNT_COMPARE_SCALAR

}  // namespace AscendC

namespace gn_twin {

// Which bit of the selection tensor decides a lane. Modes 1 and 2 consume E(T) bits per repeat; mode 0 uses the first E(T) for all.
template <class T>
inline bool Selected(const uint8_t* bits, SELMODE mode, uint32_t repeat, uint32_t lane) {
  const uint32_t index = (mode == SELMODE::VSEL_CMPMASK_SPR ? 0 : repeat * kLanes<T>)+lane;
  return (bits[index / 8] >> (index % 8) & 1) != 0;
}

// A buffer of the kernel in the scratch memory that the operation is about to overwrite.
inline void RequireScratch(const char* op, Loc loc, uint32_t bytes) {
  if constexpr (kObserved) {
    Core& core = ThisCore();
    for (uint16_t i = core.buffer_count; i > 0; --i) {
      const Buffer& buffer = core.buffers[i - 1];
      if (buffer.pipe != core.pipes || buffer.offset + buffer.bytes <= kScratchAt) continue;
      if (buffer.offset >= kScratchAt + bytes) continue;
      core.Fault("scratch-in-use", loc, buffer.made,
                 {{"op", op},
                  {"bytes", bytes},
                  {"address", kScratchAt},
                  {"buffer_file", buffer.made.file},
                  {"buffer_line", buffer.made.line}});
    }
  }
}

// In counter mode a plan's lanes are the first `count`; the mask filters lanes in the other forms.
template <class T, class U, class Second>
void RunSelect(Loc loc, SELMODE mode, const Plan& plan, const LocalTensor<T>& dst, Strides to,
               const LocalTensor<U>& selMask, const LocalTensor<T>& src0, Strides strides0, const LocalTensor<T>* src1,
               Strides strides1, Second second) {
  static_assert(kOneOf<T, half, float>, "Select on Atlas A2 takes half, float");
  static_assert(kOneOf<U, uint8_t, uint16_t, uint32_t, uint64_t>,
                "the selection tensor of Select has unsigned integer elements");
  if constexpr (kObserved) {
    Operation operation("Select", Kind::Vector, Pipe::V, loc);
    const uint64_t bits = plan.repeats == 0 ? 0
                          : mode == SELMODE::VSEL_CMPMASK_SPR
                              ? plan.Reach()
                              : uint64_t{plan.repeats - 1} * kLanes<T> + (plan.prefix ? plan.last : plan.Reach());
    operation.Local("dst", dst, Extent(plan, to, sizeof(T)), Access::Write).Strides(to.blk, to.rep);
    operation.Local("selMask", selMask, (bits + 7) / 8, Access::Read);
    operation.Local("src0", src0, Extent(plan, strides0, sizeof(T)), Access::Read).Strides(strides0.blk, strides0.rep);
    if (src1 != nullptr) {
      operation.Local("src1", *src1, Extent(plan, strides1, sizeof(T)), Access::Read)
          .Strides(strides1.blk, strides1.rep);
    }
    operation.Flows(Flow::Lanes).Emit(plan, sizeof(T));
  }
  const uint8_t* bits = selMask.Bytes();
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    const uint32_t lanes = plan.prefix ? plan.ActiveIn(repeat) : plan.lanes;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (!plan.prefix && !plan.Active(lane)) continue;
      const T chosen = Selected<T>(bits, mode, repeat, lane) ? src0.Data()[LaneIndex<T>(strides0, repeat, lane)]
                                                             : second(repeat, lane);
      dst.Data()[LaneIndex<T>(to, repeat, lane)] = chosen;
    }
  }
  // Modes 1 and 2 keep scratch data in the last 8 KiB of the Unified Buffer (128 bytes; 64 for half in mode 1): what a kernel
  // keeps there is lost.
  if (mode != SELMODE::VSEL_CMPMASK_SPR) {
    const uint32_t scratch = kSame<T, half> && mode == SELMODE::VSEL_TENSOR_SCALAR_MODE ? 64 : 128;
    RequireScratch("Select", loc, scratch);
    __builtin_memset(ThisCore().ub + kScratchAt, 0xff, scratch);
  }
}

}  // namespace gn_twin

namespace AscendC {

// dst[i] = bit i of selMask ? src0[i] : src1[i].
template <class T, class U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint32_t count,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunSelect(
      loc, selMode, gn_twin::LeadingPlan<T>(count), dst, {}, selMask, src0, {}, &src1, {},
      [at = src1.Data()](uint32_t repeat, uint32_t lane) { return at[gn_twin::LaneIndex<T>({}, repeat, lane)]; });
  gn_twin::ResetMaskRegister(gn_twin::ThisCore());
}
template <class T, class U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunSelect<T, U>(loc, selMode, gn_twin::LeadingPlan<T>(count), dst, {}, selMask, src0, {}, nullptr, {},
                           [src1](uint32_t, uint32_t) { return src1; });
  gn_twin::ResetMaskRegister(gn_twin::ThisCore());
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, Mask mask, gn_twin::RepeatTime repeatTime,
                   const BinaryRepeatParams& params, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Select", loc, true, mask, gn_twin::kLanes<T>, repeatTime);
  const gn_twin::Strides strides{params.src1BlkStride, params.src1RepStride};
  gn_twin::RunSelect(loc, selMode, plan, dst, {params.dstBlkStride, params.dstRepStride}, selMask, src0,
                     {params.src0BlkStride, params.src0RepStride}, &src1, strides,
                     [at = src1.Data(), strides](uint32_t repeat, uint32_t lane) {
                       return at[gn_twin::LaneIndex<T>(strides, repeat, lane)];
                     });
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, Mask mask, gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& params,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Select", loc, true, mask, gn_twin::kLanes<T>, repeatTime);
  gn_twin::RunSelect<T, U>(loc, selMode, plan, dst, {params.dstBlkStride, params.dstRepStride}, selMask, src0,
                           {params.src0BlkStride, params.src0RepStride}, nullptr, {},
                           [src1](uint32_t, uint32_t) { return src1; });
}

}  // namespace AscendC
