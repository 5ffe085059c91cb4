// Compare, CompareScalar and Compares write one bit per element; Select chooses elements by such bits.
//
// Source: docs/zh/api, 比较与选择. Bit i of the result, lowest bit of each byte first, is src0[i] op src1[i].
#pragma once
#include "gn_twin/tensor/repeat_values.h"
#include "gn_twin/basic_api/vector/forms.h"

namespace gn_twin {

using AscendC::CMPMODE;
using AscendC::SELMODE;

// Says for which order of two values (less, equal, greater, unordered) a comparison holds. With NaN only NE holds, and
// only without quiet_nan (docs/hardware-choices.md, compare_nan).
struct HoldsFor {
  bool less;
  bool equal;
  bool greater;
  bool unordered;

  HoldsFor(CMPMODE mode, bool quiet_nan)
      : less(mode == CMPMODE::LT || mode == CMPMODE::LE || mode == CMPMODE::NE),
        equal(mode == CMPMODE::EQ || mode == CMPMODE::LE || mode == CMPMODE::GE),
        greater(mode == CMPMODE::GT || mode == CMPMODE::GE || mode == CMPMODE::NE),
        unordered(mode == CMPMODE::NE && !quiet_nan) {}
  // The expression has no branches, so that loops over it can be vectorised.
  template <class T>
  bool operator()(T a, T b) const {
    return (less & (a < b)) | (equal & (a == b)) | (greater & (a > b)) | (unordered & ((a != a) | (b != b)));
  }
};

// The second source of an instruction: a tensor, or one value for all lanes.
template <class T>
struct SecondSource {
  const LocalTensor<T>* tensor = nullptr;  // null if it is a value
  Strides strides{};
  T value{};

  SecondSource(const LocalTensor<T>& tensor, Strides strides) : tensor(&tensor), strides(strides) {}
  SecondSource(T value) : value(value) {}
};

template <class T>
inline auto Comparable(T value) {
  if constexpr (kSame<T, half>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

// Writes one bit for each lane of a repeat, lowest first: 1 if the comparison holds.
template <class T>
void CompareLanes(HoldsFor holds, const RepeatValues<T>& a, const RepeatValues<T>& b, uint8_t* bits) {
  uint8_t one[kLanes<T>];
  for (uint32_t i = 0; i < kLanes<T>; ++i) one[i] = holds(Comparable(a.lane[i]), Comparable(b.lane[i]));
  for (uint32_t i = 0; i < kLanes<T>; i += 8) {
    uint64_t eight;
    __builtin_memcpy(&eight, one + i, sizeof(eight));
    bits[i / 8] = static_cast<uint8_t>(eight * 0x0102040810204080u >> 56);  // bit k from byte k
  }
}

template <class T>
void RequireCompareMode(Operation& operation, const char* op, CMPMODE mode) {
  if (kSame<T, int32_t> && mode != CMPMODE::EQ) operation.Refuse("compare-int32-mode", {{"op", op}});
}

// The length of a comparison: its repeats, and the elements of the last repeat.
template <class T>
struct CompareLength {
  uint32_t repeats;
  uint32_t last = kLanes<T>;
};

// Compares repeats of kE elements. Each repeat writes kE / 8 contiguous bytes, with zeros for elements that the last
// repeat lacks. The bits of the mask register have no effect.
template <class T, class U>
void RunCompare(const char* name, Loc loc, CMPMODE mode, CompareLength<T> length, const LocalTensor<U>& dst,
                const LocalTensor<T>& src0, Strides strides0, SecondSource<T> second) {
  static_assert(kOneOf<T, half, float, int32_t>, "comparisons on Atlas A2 take half, float, int32_t (EQ only)");
  constexpr uint32_t kE = kLanes<T>;
  const uint32_t repeats = length.repeats;
  if constexpr (kObserved) {
    Plan plan;
    plan.repeats = repeats;
    plan.lanes = plan.first = kE;
    plan.last = length.last;
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireCompareMode<T>(operation, name, mode);
      operation.Local("dst", dst, uint64_t{repeats} * kE / 8, Access::Write);
      AddLanes(operation, "src0", src0, plan, strides0, Access::Read);
      if (second.tensor != nullptr) {
        AddLanes(operation, "src1", *second.tensor, plan, second.strides, Access::Read);
      }
      return operation.Emit(plan, sizeof(T));
    });
    ThisCore().compared = {dst.Bytes(), repeats, loc};
  }
  const HoldsFor holds(mode, ThisCore().job->options.compare_nan != 0);
  RepeatValues<T> a, b;
  b.Fill(second.value);
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const uint32_t lanes = repeat + 1 == repeats ? length.last : kE;
    a.Load(src0.Data(), strides0, repeat, lanes);
    if (second.tensor != nullptr) b.Load(second.tensor->Data(), second.strides, repeat, lanes);
    uint8_t* const bits = dst.Bytes() + repeat * (kE / 8);
    CompareLanes(holds, a, b, bits);
    for (uint32_t lane = lanes; lane < kE; ++lane) bits[lane / 8] &= static_cast<uint8_t>(~(1u << lane % 8));
  }
}

// Returns the length of a comparison of `count` elements. Only whole repeats are processed: the device silently drops
// the other elements, the twin refuses them. Ascend310B processes all elements (docs/hardware-choices.md,
// compare_tail).
template <class T>
inline CompareLength<T> CompareLengthOf(const char* op, uint32_t count, Loc loc) {
  if (ThisCore().job->options.compare_tail != 0 && count != 0) {
    return {(count + kLanes<T> - 1) / kLanes<T>, (count - 1) % kLanes<T> + 1};
  }
  if constexpr (kObserved) {
    if (uint64_t{count} * sizeof(T) % kRepeatBytes != 0) {
      ThisCore().Refuse("compare-not-whole-repeats", loc,
                        {{"op", op},
                         {"count", count},
                         {"element_bytes", sizeof(T)},
                         {"done", uint64_t{count} * sizeof(T) / kRepeatBytes * kLanes<T>}});
    }
  }
  return {static_cast<uint32_t>(uint64_t{count} * sizeof(T) / kRepeatBytes)};
}

}  // namespace gn_twin

namespace AscendC {

template <class T, class U>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunCompare("Compare", loc, cmpMode, gn_twin::CompareLengthOf<T>("Compare", count, loc), dst, src0, {},
                      {src1, {}});
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    Mask, gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireStrides("Compare", repeatParams, loc);
  gn_twin::RunCompare("Compare", loc, cmpMode,
                      gn_twin::CompareLength<T>{gn_twin::CounterRepeats(
                          gn_twin::ThisCore(), repeatTime.Checked("Compare", loc), gn_twin::kLanes<T>)},
                      dst, src0, {repeatParams.src0BlkStride, repeatParams.src0RepStride},
                      {src1, {repeatParams.src1BlkStride, repeatParams.src1RepStride}});
}

// CompareScalar and Compares, its name in 9.x, compare a tensor with a scalar.
#define GNT_COMPARE_SCALAR(NAME)                                                                                     \
  template <class T, class U>                                                                                        \
  inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,       \
                   uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {                                        \
    gn_twin::ThisCore().NoteNumber(#NAME, loc, src1Scalar);                                                          \
    gn_twin::RunCompare<T, U>(#NAME, loc, cmpMode, gn_twin::CompareLengthOf<T>(#NAME, count, loc), dst, src0, {},    \
                              src1Scalar);                                                                           \
  }                                                                                                                  \
  template <class T, class U, bool isSetMask = true, class Mask>                                                     \
    requires gn_twin::kIsConstMask<Mask>                                                                             \
  inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode, Mask, \
                   gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,                            \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                        \
    gn_twin::RunCompare<T, U>(#NAME, loc, cmpMode,                                                                   \
                              gn_twin::CompareLength<T>{gn_twin::CounterRepeats(                                     \
                                  gn_twin::ThisCore(), repeatTime.Checked(#NAME, loc), gn_twin::kLanes<T>)},         \
                              dst, src0, {repeatParams.srcBlkStride, repeatParams.srcRepStride}, src1Scalar);        \
  }
GNT_COMPARE_SCALAR(CompareScalar)
GNT_COMPARE_SCALAR(Compares)
#undef GNT_COMPARE_SCALAR

}  // namespace AscendC

namespace gn_twin {

// Keeps a[i] where bit i of `eight` is set, takes b[i] elsewhere. Bits is an unsigned integer type of the element's
// size, so that the compiler can vectorise the loop for half too.
template <class Bits, class T>
inline void Choose8(uint32_t eight, T* a, const T* b) {
  static_assert(sizeof(Bits) == sizeof(T));
  Bits kept[8], other[8];
  __builtin_memcpy(kept, a, sizeof(kept));
  __builtin_memcpy(other, b, sizeof(other));
  for (uint32_t i = 0; i < 8; ++i) {
    const Bits all = static_cast<Bits>(0u - (eight >> i & 1u));
    kept[i] = static_cast<Bits>((kept[i] & all) | (other[i] & ~all));
  }
  __builtin_memcpy(a, kept, sizeof(kept));
}

// Sets each active lane of dst to the lane of src0 if its bit is set, else to the lane of `second`. Modes 1 and 2
// consume kLanes<T> bits per repeat; mode 0 uses the first kLanes<T> bits for all repeats.
template <class T>
void ChooseLanes(SELMODE mode, const Plan& plan, const LocalTensor<T>& dst, Strides to, const uint8_t* bits,
                 const LocalTensor<T>& src0, Strides strides0, const SecondSource<T>& second) {
  RepeatValues<T> a, b;
  b.Fill(second.value);
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    const uint32_t lanes = plan.ReachIn(repeat);
    a.Load(src0.Data(), strides0, repeat, lanes);
    if (second.tensor != nullptr) b.Load(second.tensor->Data(), second.strides, repeat, lanes);
    const uint8_t* row = bits + (mode == SELMODE::VSEL_CMPMASK_SPR ? 0 : repeat * (kLanes<T> / 8));
    for (uint32_t i = 0; i < lanes; i += 8) {
      if constexpr (sizeof(T) == 2) Choose8<uint16_t>(row[i / 8], a.lane + i, b.lane + i);
      if constexpr (sizeof(T) == 4) Choose8<uint32_t>(row[i / 8], a.lane + i, b.lane + i);
    }
    a.Store(dst.Data(), to, repeat, plan);
  }
}

// Reports each buffer of the kernel in the scratch memory that the operation is about to overwrite.
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
                  {"buffer_line", buffer.made.line},
                  {"buffer_nth", buffer.nth}});
    }
  }
}

// Checks and computes a Select. The plan's active lanes are the first `count` (count form, counter mode), or the lanes
// that the mask selects.
template <class T, class U>
void RunSelect(Loc loc, SELMODE mode, const Plan& plan, const LocalTensor<T>& dst, Strides to,
               const LocalTensor<U>& selMask, const LocalTensor<T>& src0, Strides strides0, SecondSource<T> second) {
  static_assert(kOneOf<T, half, float>, "Select on Atlas A2 takes half, float");
  // Unsigned types are documented, but the library checks this only in its CPU build. On a device a mask of int8_t, as
  // Compare may write it, gives the same bits, and several public kernels use it.
  static_assert(kOneOf<U, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>,
                "the selection tensor of Select has integer elements");
  if constexpr (kObserved) {
    EmitOperation("Select", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      const uint64_t bits = plan.repeats == 0 ? 0
                            : mode == SELMODE::VSEL_CMPMASK_SPR
                                ? plan.Reach()
                                : uint64_t{plan.repeats - 1} * kLanes<T> + plan.ReachIn(plan.repeats - 1);
      AddLanes(operation, "dst", dst, plan, to, Access::Write);
      operation.Local("selMask", selMask, (bits + 7) / 8, Access::Read);
      AddLanes(operation, "src0", src0, plan, strides0, Access::Read);
      if (second.tensor != nullptr) {
        AddLanes(operation, "src1", *second.tensor, plan, second.strides, Access::Read);
      }
      return operation.Flows(Flow::Lanes).Emit(plan, sizeof(T));
    });
    const Compared& made = ThisCore().compared;
    if (mode == SELMODE::VSEL_CMPMASK_SPR && plan.repeats > 1 && made.repeats > 1 && made.bits == selMask.Bytes()) {
      ThisCore().Warn("select-first-bits", loc, {},
                      {{"op", "Select"},
                       {"repeats", plan.repeats},
                       {"bits", kLanes<T>},
                       {"compared", made.repeats * kLanes<T>},
                       {"compare_file", made.loc.file},
                       {"compare_line", made.loc.line}});
    } else if (mode == SELMODE::VSEL_CMPMASK_SPR && plan.repeats > 1 &&
               uint64_t{selMask.GetSize()} * sizeof(U) * 8 == uint64_t{plan.repeats} * kLanes<T>) {
      ThisCore().Warn("select-mask-unused", loc, {},
                      {{"op", "Select"},
                       {"repeats", plan.repeats},
                       {"bits", kLanes<T>},
                       {"has", uint64_t{plan.repeats} * kLanes<T>}});
    }
  }
  ChooseLanes(mode, plan, dst, to, selMask.Bytes(), src0, strides0, second);
  // Modes 1 and 2 keep scratch data at the start of the last 8 KiB of the Unified Buffer (128 bytes; 64 for half in
  // mode 1), so the kernel's data there are lost.
  if (mode != SELMODE::VSEL_CMPMASK_SPR) {
    const uint32_t scratch = kSame<T, half> && mode == SELMODE::VSEL_TENSOR_SCALAR_MODE ? 64 : 128;
    RequireScratch("Select", loc, scratch);
    __builtin_memset(ThisCore().ub + kScratchAt, 0xff, scratch);
  }
}

}  // namespace gn_twin

namespace AscendC {

// Sets dst[i] to src0[i] where the bit of element i in selMask is set (see ChooseLanes), else to src1[i] or the scalar.
template <class T, class U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint32_t count,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunSelect<T, U>(loc, selMode, gn_twin::LeadingPlan<T>(count), dst, {}, selMask, src0, {}, {src1, {}});
  gn_twin::ResetMaskRegister(gn_twin::ThisCore());
}
template <class T, class U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunSelect<T, U>(loc, selMode, gn_twin::LeadingPlan<T>(count), dst, {}, selMask, src0, {}, src1);
  gn_twin::ResetMaskRegister(gn_twin::ThisCore());
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, Mask mask, gn_twin::RepeatTime repeatTime,
                   const BinaryRepeatParams& params, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Select", loc, true, mask, gn_twin::kLanes<T>, repeatTime);
  gn_twin::RunSelect<T, U>(loc, selMode, plan, dst, {params.dstBlkStride, params.dstRepStride}, selMask, src0,
                           {params.src0BlkStride, params.src0RepStride},
                           {src1, {params.src1BlkStride, params.src1RepStride}});
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, Mask mask, gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& params,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Select", loc, true, mask, gn_twin::kLanes<T>, repeatTime);
  gn_twin::RunSelect<T, U>(loc, selMode, plan, dst, {params.dstBlkStride, params.dstRepStride}, selMask, src0,
                           {params.src0BlkStride, params.src0RepStride}, src1);
}

}  // namespace AscendC
