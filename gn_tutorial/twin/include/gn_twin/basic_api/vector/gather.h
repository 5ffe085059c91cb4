// Gather: reads elements of one tensor at byte offsets that another tensor holds.
//
// Source: docs/zh/api, 离散与聚合.
#pragma once
#include "gn_twin/basic_api/vector/fill.h"

namespace gn_twin {

// Stops at the first active lane whose offset lies outside src, so near its end that no element fits, or between two
// elements.
template <class T>
GNT_COLD void RequireOffsets(Operation& operation, const Plan& plan, const LocalTensor<T>& src, const uint32_t* given,
                             uint32_t base) {
  const uint64_t room = uint64_t{src.GetSize()} * sizeof(T);
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat, given += plan.lanes) {
    for (uint32_t i = 0; i < plan.ReachIn(repeat); ++i) {
      const uint64_t at = uint64_t{base} + given[i];
      if ((at <= room - sizeof(T) && at % sizeof(T) == 0) || (!plan.prefix && !plan.Active(i))) continue;
      operation.Stop(
          "gather-offset",
          {{"index", repeat * plan.lanes + i}, {"offset", at}, {"room", room}, {"element_bytes", sizeof(T)}});
    }
  }
}

template <class T>
GNT_NOINLINE void EmitCheckedGather(const CallKey& key, const Plan& plan, const LocalTensor<T>& dst, Strides to,
                                    const LocalTensor<T>& src, const LocalTensor<uint32_t>& offsets, uint32_t base) {
  EmitOperation(key.op, Kind::Vector, Pipe::V, {key.file, key.line}, [&](Operation& operation) {
    const uint32_t* const given = offsets.Data();
    const uint32_t lanes = plan.repeats == 0 ? 0 : (plan.repeats - 1) * plan.lanes + plan.ReachIn(plan.repeats - 1);
    AddLanes(operation, "dst", dst, plan, to, Access::Write);
    operation.Local("srcOffset", offsets, uint64_t{lanes} * sizeof(uint32_t), Access::Read)
        .Strides(1, plan.lanes * sizeof(uint32_t) / kBlockBytes);
    if (lanes != 0) operation.Check("src", src, sizeof(T));
    if (lanes != 0 && dst.Data() == src.Data()) operation.Refuse("gather-in-place", {});
    uint32_t largest = 0;
    uint32_t low = base;
    for (uint32_t i = 0; i < lanes; ++i) {
      largest = largest < given[i] ? given[i] : largest;
      low |= base + given[i];
    }
    if (uint64_t{base} + largest + sizeof(T) > uint64_t{src.GetSize()} * sizeof(T) || low % sizeof(T) != 0)
      RequireOffsets(operation, plan, src, given, base);  // offsets of inactive lanes may be anything
    const uint8_t* const table = src.Bytes() + base;
    if (plan.prefix && (plan.repeats <= 1 || plan.first == plan.lanes)) {
      operation.Pieces("src", table, given, lanes, largest, sizeof(T), Access::Read, sizeof(T));
      operation.Complete(plan, sizeof(T));
      return operation.EmitAs(key);
    }
    PieceList pieces(lanes);
    for (uint32_t i = 0; i < lanes; ++i) {
      const uint32_t lane = i % plan.lanes;
      if (plan.prefix ? lane < plan.ActiveIn(i / plan.lanes) : plan.Active(lane)) pieces.Add(given[i]);
    }
    operation.Pieces("src", table, pieces.Data(), pieces.Count(), sizeof(T), Access::Read, sizeof(T));
    return operation.Emit(plan, sizeof(T));
  });
}

// Encodes the parameters of a gather in one word. Returns 0 if its active offsets are not contiguous, or a number does
// not fit.
inline uint64_t FormOf(const Plan& plan, Strides to, uint32_t base) {
  if (!plan.prefix || (plan.repeats > 1 && plan.first != plan.lanes) || base >= kUbBytes) return 0;
  if (((plan.repeats | plan.first | plan.last) >> 8) != 0 || to.rep >> 16 != 0) return 0;
  return plan.repeats | plan.first << 8 | plan.last << 16 | uint64_t{base} << 24 | uint64_t{to.rep} << 42;
}

// Sets dst[i] to the element at base + offsets[i] bytes from the start of src. `to` has no gaps between blocks.
template <class T>
void RunGather(Loc loc, const Plan& plan, const LocalTensor<T>& dst, Strides to, const LocalTensor<T>& src,
               const LocalTensor<uint32_t>& offsets, uint32_t base) {
  static_assert(kWord<T>, "Gather on Atlas A2 takes 16- and 32-bit elements");
  if constexpr (kObserved) {
    const bool inside = base % sizeof(T) == 0 && base / sizeof(T) <= src.GetSize();
    const LocalTensor<T> table = inside ? src[base / sizeof(T)] : src;
    EmitCall(
        "Gather", loc, CallKey::kGathers, inside ? FormOf(plan, to, base) : 0,
        [&](const CallKey& key) { EmitCheckedGather(key, plan, dst, to, src, offsets, base); }, dst, offsets, table);
  }
  RepeatValues<T> values;
  const uint8_t* const table = src.Bytes() + base;
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    const uint32_t* const from = offsets.Data() + uint64_t{repeat} * plan.lanes;
    const uint32_t lanes = plan.ReachIn(repeat);
    for (uint32_t i = 0; i < lanes; ++i) {
      if (plan.prefix || plan.Active(i)) __builtin_memcpy(&values.lane[i], table + from[i], sizeof(T));
    }
    values.Store(dst.Data(), to, repeat, plan);
  }
}

}  // namespace gn_twin

namespace AscendC {

template <class T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseAddr, const uint32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  // The device stores the number of whole repeats of a count in 8 bits.
  if (gn_twin::kObserved && count / gn_twin::kLanes<T> > gn_twin::kMaxRepeats) {
    gn_twin::ThisCore().Stop(
        "repeat-range", loc,
        {{"op", "Gather"}, {"repeats", count / gn_twin::kLanes<T>}, {"limit", gn_twin::kMaxRepeats}});
  }
  gn_twin::RunGather(loc, gn_twin::LeadingPlan<T>(count), dst, {}, src, srcOffset, srcBaseAddr);
}
template <class T, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseAddr, Mask mask, const gn_twin::RepeatTime repeatTime,
                   const uint16_t dstRepStride, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Gather", loc, true, mask, gn_twin::kLanes<T>, repeatTime);
  gn_twin::RunGather(loc, plan, dst, {1, dstRepStride}, src, srcOffset, srcBaseAddr);
}

}  // namespace AscendC
