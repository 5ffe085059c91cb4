// The elements that an instruction touches, from its repeats, blocks, strides and mask, for the three call forms.
//
//   count form           the first `count` elements, one after the other
//   mask and repeat      `mask` leading lanes of each repeat of 256 bytes (or the bits of a mask array)
//   counter mode         SetMaskCount: the mask register holds the number of elements in all; repeatTime is ignored
//
// Source: docs/zh/api, SIMD计算说明 (掩码, 高维切分, 连续计算) and 掩码操作. The width of a lane is that of the widest operand.
#pragma once
#include "gn_twin/events/block_span.h"
#include "gn_twin/tensor/index_values.h"
#include "gn_twin/tensor/operand.h"

namespace gn_twin {

// Strides of one operand in 32-byte blocks, measured from start to start.
struct Strides {
  uint32_t blk = 1;
  uint32_t rep = 8;
};

// The lanes of one instruction, divided into repeats.
struct Plan {
  uint32_t repeats = 0;
  uint32_t lanes = 0;  // lanes of one whole repeat
  uint32_t first = 0;  // when prefix: active lanes of every repeat but the last
  uint32_t last = 0;   // when prefix: active lanes of the last repeat
  bool prefix = true;  // active lanes are the leading ones
  uint64_t low = 0;    // when not prefix: the bits of the mask
  uint64_t high = 0;
  bool descending = false;  // last repeat and last lane first (docs/hardware-choices.md, repeat_order)

  uint32_t ActiveIn(uint32_t repeat) const { return repeat + 1 == repeats ? last : first; }
  bool Active(uint32_t lane) const { return ((lane < 64 ? low >> lane : high >> (lane - 64)) & 1) != 0; }
  // Calls visit(lane) for the set bits of the mask, lowest first.
  template <class Visit>
  [[gnu::always_inline]] void ForActive(Visit visit) const {
    for (uint32_t half = 0; half < lanes; half += 64)
      ForBits(half == 0 ? low : high, [&](uint32_t bit) { visit(half + bit); });
  }
  // Returns the active lanes as data for observers.
  ActiveLanes Active() const {
    return {static_cast<uint16_t>(lanes), prefix, static_cast<uint16_t>(first), static_cast<uint16_t>(last), low, high};
  }
  // Returns one past the highest lane that `first`, `last` or the mask makes active; ReachIn does so for one repeat.
  uint32_t Reach() const {
    if (prefix) return first > last ? first : last;
    return high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
  }
  uint32_t ReachIn(uint32_t repeat) const { return prefix ? ActiveIn(repeat) : Reach(); }
  // Whether an operand's lanes are contiguous.
  bool IsOneRun(Strides strides, uint32_t element_bytes) const {
    return prefix && strides.blk == 1 &&
           (repeats <= 1 || uint64_t{strides.rep} * kBlockBytes == uint64_t{first} * element_bytes);
  }
  uint64_t Lanes() const {
    if (repeats == 0) return 0;
    if (prefix) return uint64_t{first} * (repeats - 1) + last;
    return uint64_t{repeats} * (__builtin_popcountll(low) + __builtin_popcountll(high));
  }
};

// Returns the number of bytes from an operand's start to one past the last byte that the plan touches in it.
inline uint64_t PlanBytes(const Plan& plan, Strides strides, uint32_t element_bytes) {
  const auto reach = [&](uint32_t lanes) { return BytesOfLanes(lanes, strides.blk, element_bytes); };
  if (plan.repeats == 0) return 0;
  const uint64_t pitch = uint64_t{strides.rep} * kBlockBytes;
  const uint64_t full = plan.repeats > 1 || !plan.prefix
                            ? (plan.prefix ? reach(plan.first) + (plan.repeats - 2) * pitch
                                           : reach(plan.Reach()) + (plan.repeats - 1) * pitch)
                            : 0;
  const uint64_t last = plan.prefix ? (plan.last == 0 ? 0 : reach(plan.last) + (plan.repeats - 1) * pitch) : 0;
  return full > last ? full : last;
}

// Adds an operand that has the lanes of the plan.
inline Operation& AddLanes(Operation& operation, const char* role, const RawTensor& tensor, const Plan& plan,
                           Strides strides, Access access) {
  const uint32_t bytes = tensor.element_bytes;
  return operation.Made({Extent::Form::Repeats, bytes, plan.repeats, plan.Reach(), strides.blk, strides.rep})
      .Local(role, tensor, PlanBytes(plan, strides, bytes), access)
      .Strides(strides.blk, strides.rep);
}

inline uint64_t LeadingBits(uint32_t count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// Returns the plan for the current mask register.
inline Plan PlanFromRegister(const Core& core, uint32_t lanes, uint32_t repeats) {
  Plan plan;
  plan.lanes = lanes;
  plan.descending = core.job->options.repeat_order != 0;
  if (core.mask.counter) {
    const uint64_t total = core.mask.low & 0xffffffffu;
    plan.repeats = static_cast<uint32_t>((total + lanes - 1) / lanes);
    plan.first = lanes;
    plan.last = plan.repeats == 0 ? 0 : static_cast<uint32_t>(total - uint64_t{plan.repeats - 1} * lanes);
    return plan;
  }
  plan.repeats = repeats;
  plan.low = lanes < 64 ? core.mask.low & LeadingBits(lanes) : core.mask.low;
  plan.high = lanes > 64 ? core.mask.high : 0;
  const uint32_t active = static_cast<uint32_t>(__builtin_popcountll(plan.low) + __builtin_popcountll(plan.high));
  plan.first = plan.last = active;
  plan.prefix =
      plan.low == LeadingBits(active < 64 ? active : 64) && plan.high == (active > 64 ? LeadingBits(active - 64) : 0);
  if (active == 0) plan.repeats = 0;
  return plan;
}

// Returns a plan of `count` leading elements, for count forms that are not element-wise.
template <class T>
inline Plan LeadingPlan(uint32_t count) {
  Plan plan;
  plan.lanes = plan.first = kLanes<T>;
  plan.repeats = static_cast<uint32_t>((uint64_t{count} + kLanes<T> - 1) / kLanes<T>);
  plan.last = count == 0 ? 0 : count - (plan.repeats - 1) * kLanes<T>;
  return plan;
}

// Returns the number of repeats of an instruction. In counter mode an option decides whether the number is `repeats` or
// follows from the counter (docs/hardware-choices.md, counter_compare).
inline uint32_t CounterRepeats(const Core& core, uint32_t repeats, uint32_t lanes) {
  if (!core.mask.counter || core.job->options.counter_compare == 0) return repeats;
  return static_cast<uint32_t>(((core.mask.low & 0xffffffffu) + lanes - 1) / lanes);
}

// Writes the mask register for a mask that is a number of lanes, also in counter mode. The lowest `mask` bits are set;
// all bits are set if `mask` is a whole repeat or more, or at least 128.
inline void WriteMask(Core& core, uint64_t mask, uint32_t lanes) {
  if (mask >= lanes || mask >= 128) {
    core.mask.low = core.mask.high = ~uint64_t{0};
    return;
  }
  core.mask.low = LeadingBits(static_cast<uint32_t>(mask));
  core.mask.high = mask > 64 ? LeadingBits(static_cast<uint32_t>(mask - 64)) : 0;
}
inline void WriteMask(Core& core, const uint64_t* mask, uint32_t lanes) {
  core.mask.low = mask[0];
  core.mask.high = lanes > 64 ? mask[1] : 0;
}
inline void ResetMaskRegister(Core& core) {
  core.NoteMaskLost(core.Here());
  core.mask = MaskRegister{};
}

// Returns the index of a lane's element, counted from the operand's start.
template <class T>
inline uint64_t LaneIndex(Strides strides, uint32_t repeat, uint32_t lane) {
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
  return (uint64_t{repeat} * strides.rep + uint64_t{lane / kPerBlock} * strides.blk) * kPerBlock + lane % kPerBlock;
}

// One operand: its start and the layout of its repeats and blocks.
template <class T>
struct Lane {
  T* at;
  Strides strides;
};

// Computes dst[i] = op(src[i]...) for n contiguous elements.
template <class Op, class D, class... S>
inline void ForContiguous(uint32_t n, Op op, D* dst, const S*... src) {
  GNT_INDEPENDENT
  for (uint32_t i = 0; i < n; ++i) dst[i] = op(src[i]...);
}

// Does the same for one block, but computes all results before it stores the first. The compiler unrolls a short loop
// first, and cannot vectorise the unrolled code if a store might change later inputs.
template <uint32_t kCount, class Op, class D, class... S>
inline void ForBlock(Op op, D* dst, const S*... src) {
  D made[kCount];
  for (uint32_t i = 0; i < kCount; ++i) made[i] = op(src[i]...);
  for (uint32_t i = 0; i < kCount; ++i) dst[i] = made[i];
}

template <class... Size>
constexpr uint32_t LargestOf(Size... size) {
  uint32_t largest = 0;
  ((largest = size > largest ? static_cast<uint32_t>(size) : largest), ...);
  return largest;
}

// An operand that ForBlocks or ForWholeRepeats walks through, with its own step from block to block or repeat to
// repeat.
template <class T>
struct Walk {
  T* at;
  uint64_t step;  // elements
};
template <uint32_t kCount, class Op, class D, class... S>
inline void ForBlocks(uint32_t blocks, Op op, Walk<D> dst, Walk<const S>... src) {
  for (; blocks > 0; --blocks) {
    ForBlock<kCount>(op, dst.at, src.at...);
    dst.at += dst.step;
    ((src.at += src.step), ...);
  }
}

// Computes repeats with all lanes active, one after the other. The number of lanes is a constant for the compiler,
// which halves the time of the loop.
template <class Op, class D, class... S>
inline void ForWholeRepeats(uint32_t repeats, Op op, Walk<D> dst, Walk<const S>... src) {
  for (; repeats > 0; --repeats) {
    ForContiguous(kLanes<D>, op, dst.at, src.at...);
    dst.at += dst.step;
    ((src.at += src.step), ...);
  }
}

// Computes the first `lanes` lanes of a repeat, block by block, because each operand's elements are contiguous inside a
// block.
template <class Op, class D, class... S>
inline void ForLeading(uint32_t repeat, uint32_t lanes, Op op, Lane<D> dst, Lane<const S>... src) {
  constexpr uint32_t kBlock = kBlockBytes / LargestOf(sizeof(D), sizeof(S)...);
  uint32_t lane = 0;
  if constexpr (((sizeof(S) == sizeof(D)) && ...)) {
    lane = lanes / kBlock * kBlock;
    ForBlocks<kBlock>(
        lanes / kBlock, op, Walk<D>{dst.at + LaneIndex<D>(dst.strides, repeat, 0), uint64_t{dst.strides.blk} * kBlock},
        Walk<const S>{src.at + LaneIndex<S>(src.strides, repeat, 0), uint64_t{src.strides.blk} * kBlock}...);
  }
  for (; lane + kBlock <= lanes; lane += kBlock)
    ForBlock<kBlock>(op, dst.at + LaneIndex<D>(dst.strides, repeat, lane),
                     src.at + LaneIndex<S>(src.strides, repeat, lane)...);
  if (lane < lanes)
    ForContiguous(lanes - lane, op, dst.at + LaneIndex<D>(dst.strides, repeat, lane),
                  src.at + LaneIndex<S>(src.strides, repeat, lane)...);
}

// Whether each repeat begins one block stride after the last block of the repeat before.
inline bool GoesOn(Strides strides) { return strides.rep == strides.blk * (kRepeatBytes / kBlockBytes); }

// Computes dst[lane] = op(src[lane]...) for the active lanes of the plan. Repeats run one after the other, so a repeat
// sees the results of the one before. This makes the documented accumulate idiom (destination repeat stride 0) a fold
// over the repeats.
template <class Op, class D, class... S>
GNT_NOINLINE void ForLanes(const Plan& plan, Op op, Lane<D> dst, Lane<const S>... src) {
  const bool contiguous = plan.prefix && dst.strides.blk == 1 && ((src.strides.blk == 1) && ...);
  if constexpr (((sizeof(S) == sizeof(D)) && ...)) {
    if (plan.prefix && !plan.descending && !contiguous && plan.first == kLanes<D> && plan.repeats > 0 &&
        GoesOn(dst.strides) && (GoesOn(src.strides) && ...))
      return ForLeading(0, (plan.repeats - 1) * kLanes<D> + plan.last, op, dst, src...);
  }
  uint32_t done = 0;
  if constexpr (((sizeof(S) == sizeof(D)) && ...)) {
    if (contiguous && !plan.descending && plan.first == kLanes<D> && plan.repeats > 0) {
      done = plan.repeats - (plan.last == kLanes<D> ? 0 : 1);
      ForWholeRepeats(done, op, Walk<D>{dst.at, LaneIndex<D>(dst.strides, 1, 0)},
                      Walk<const S>{src.at, LaneIndex<S>(src.strides, 1, 0)}...);
    }
  }
  for (uint32_t step = done; step < plan.repeats; ++step) {
    const uint32_t repeat = plan.descending ? plan.repeats - 1 - step : step;
    if (contiguous) {
      ForContiguous(plan.ActiveIn(repeat), op, dst.at + LaneIndex<D>(dst.strides, repeat, 0),
                    src.at + LaneIndex<S>(src.strides, repeat, 0)...);
      continue;
    }
    const uint32_t lanes = plan.prefix ? plan.ActiveIn(repeat) : plan.lanes;
    if (plan.prefix && !plan.descending) {
      ForLeading(repeat, lanes, op, dst, src...);
      continue;
    }
    const auto compute = [&](uint32_t lane) {
      dst.at[LaneIndex<D>(dst.strides, repeat, lane)] = op(src.at[LaneIndex<S>(src.strides, repeat, lane)]...);
    };
    if (!plan.descending) {
      plan.ForActive(compute);
      continue;
    }
    for (uint32_t lane = lanes; lane-- > 0;)
      if (plan.prefix || plan.Active(lane)) compute(lane);
  }
}

}  // namespace gn_twin
