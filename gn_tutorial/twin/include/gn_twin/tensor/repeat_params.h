// The number of repeats of an instruction and their strides, as kernels pass them. The instruction's fields have 8 or
// 16 bits, and on the device a number that does not fit wraps silently. These types keep the given number, so that the
// twin can report it.
//
// Source: docs/zh/api, SIMD计算说明 (高维切分, 掩码) and 数据结构 (UnaryRepeatParams, BinaryRepeatParams).
#pragma once
#include "gn_twin/tensor/lanes.h"

namespace gn_twin {

template <class N>
inline constexpr bool kWhole = requires(N number) {
  static_cast<int64_t>(number);
  number == number;
};

// The first of the given numbers that does not fit into its field.
struct Lost {
  int64_t given = 0;
  bool any = false;

  template <class Narrow, class N>
  constexpr Narrow Fit(N number) {
    const Narrow kept = static_cast<Narrow>(number);
    if (!any && static_cast<int64_t>(number) != static_cast<int64_t>(kept)) {
      given = static_cast<int64_t>(number);
      any = true;
    }
    return kept;
  }
};

// The repeatTime as the call gave it. The instruction's field has 8 bits.
class RepeatTime {
 public:
  template <class N>
    requires kWhole<N>
  constexpr RepeatTime(N given) : given_(static_cast<int64_t>(given)) {}
  // Returns the number of repeats. If it does not fit in 8 bits, stops; in a bare library it wraps, as on the device.
  uint32_t Checked(const char* op, Loc loc) const {
    if constexpr (kObserved) {
      if (given_ < 0 || given_ > kMaxRepeats) [[unlikely]]
        ThisCore().Stop("repeat-range", loc, {{"op", op}, {"repeats", given_}, {"limit", kMaxRepeats}});
    }
    return static_cast<uint8_t>(given_);
  }
  // Returns the number of repeats if it is in range, else 0. Never stops.
  constexpr uint32_t OneOrMore() const {
    return given_ > 0 && given_ <= kMaxRepeats ? static_cast<uint32_t>(given_) : 0;
  }

 private:
  int64_t given_;
};

template <class Params>
inline void RequireStrides(const char* op, const Params& params, Loc loc) {
  if constexpr (kObserved) {
    if (params.lost.any) [[unlikely]]
      ThisCore().Refuse("stride-range", loc, {{"op", op}, {"stride", params.lost.given}});
  }
}

}  // namespace gn_twin

namespace AscendC {

// Strides in 32-byte blocks: BlkStride from one of the 8 blocks of a repeat to the next, RepStride from one repeat to
// the next.
struct UnaryRepeatParams {
  gn_twin::Lost lost;  // not part of the Ascend C API
  uint16_t dstBlkStride = 1;
  uint16_t srcBlkStride = 1;
  uint8_t dstRepStride = 8;
  uint8_t srcRepStride = 8;

  constexpr UnaryRepeatParams() = default;
  template <class A, class B, class C, class D>
  constexpr UnaryRepeatParams(A dst_blk, B src_blk, C dst_rep, D src_rep)
      : dstBlkStride(lost.Fit<uint16_t>(dst_blk)),
        srcBlkStride(lost.Fit<uint16_t>(src_blk)),
        dstRepStride(lost.Fit<uint8_t>(dst_rep)),
        srcRepStride(lost.Fit<uint8_t>(src_rep)) {}
};

struct BinaryRepeatParams {
  gn_twin::Lost lost;  // not part of the Ascend C API
  uint8_t dstBlkStride = 1;
  uint8_t src0BlkStride = 1;
  uint8_t src1BlkStride = 1;
  uint8_t dstRepStride = 8;
  uint8_t src0RepStride = 8;
  uint8_t src1RepStride = 8;

  constexpr BinaryRepeatParams() = default;
  template <class A, class B, class C, class D, class E, class F>
  constexpr BinaryRepeatParams(A dst_blk, B src0_blk, C src1_blk, D dst_rep, E src0_rep, F src1_rep)
      : dstBlkStride(lost.Fit<uint8_t>(dst_blk)),
        src0BlkStride(lost.Fit<uint8_t>(src0_blk)),
        src1BlkStride(lost.Fit<uint8_t>(src1_blk)),
        dstRepStride(lost.Fit<uint8_t>(dst_rep)),
        src0RepStride(lost.Fit<uint8_t>(src0_rep)),
        src1RepStride(lost.Fit<uint8_t>(src1_rep)) {}
};

}  // namespace AscendC

namespace gn_twin {

// The mask parameter of a call: a number of lanes, or an array of two words with one bit per lane. Arrays are non-const
// in the documented signatures of arithmetic and const in those of Cast, Compare, Gather and the reductions.
template <class Mask>
inline constexpr bool kIsMask = kSame<Mask, uint64_t*> || requires(Mask mask) { static_cast<uint64_t>(mask); };
template <class Mask>
inline constexpr bool kIsConstMask = kIsMask<Mask> || kSame<Mask, const uint64_t*>;

// Warns of a mask with more lanes than a repeat, and of a mask in counter mode. The device clips a mask with too many
// lanes, and the CPU build of 9.x refuses it. In counter mode the register holds a number of elements, but an
// instruction with a mask still writes one bit per lane into it. A mask that is an array is not checked.
template <class Mask>
inline void CheckMask(const char* op, Loc loc, Core& core, const Mask& mask, uint32_t lanes) {
  if constexpr (kObserved && requires { static_cast<uint64_t>(mask); }) {
    const uint64_t given = static_cast<uint64_t>(mask);
    if (given > lanes) [[unlikely]]
      core.Warn("mask-range", loc, {}, {{"op", op}, {"mask", given}, {"lanes", lanes}});
    if (core.mask.counter && given != 0) [[unlikely]] {
      core.mask_in_counter = loc;
      core.Warn("mask-in-counter-mode", loc, {}, {{"op", op}, {"mask", given}});
    }
  }
}

// Warns that an instruction uses the current mask, although another instruction has overwritten the mask that
// SetVectorMask set.
GNT_COLD inline void TellMaskLost(const char* op, Loc loc, Core& core) {
  const MaskLost lost = core.mask_lost;
  core.mask_lost = {};
  core.Warn("mask-lost", loc, lost.by,
            {{"op", op},
             {"mask_file", lost.set.file},
             {"mask_line", lost.set.line},
             {"mask_op", "SetVectorMask"},
             {"other_file", lost.by.file},
             {"other_line", lost.by.line}});
}

// Returns the repeats and lanes of an instruction in mask-and-repeat form. Writes the mask register first if
// `set_mask`.
template <class Mask>
inline Plan MaskedPlan(const char* op, Loc loc, bool set_mask, const Mask& mask, uint32_t lanes, uint32_t repeats) {
  Core& core = ThisCore();
  if (set_mask) {
    CheckMask(op, loc, core, mask, lanes);
    core.NoteMaskLost(loc);
    core.mask.unused = false;
    WriteMask(core, mask, lanes);
    core.mask.set = loc;
    core.mask.op = op;
  } else if constexpr (kObserved) {
    if (core.mask_lost.set.line != 0 && __builtin_strcmp(core.mask.op, "SetVectorMask") != 0) [[unlikely]]
      TellMaskLost(op, loc, core);
    core.mask.unused = false;
    core.masks_from[loc.line % Core::kMasksFrom] = {loc, core.mask.set, core.mask.op};
  }
  return PlanFromRegister(core, lanes, repeats);
}
template <class Mask>
inline Plan MaskedPlan(const char* op, Loc loc, bool set_mask, const Mask& mask, uint32_t lanes, RepeatTime repeats) {
  return MaskedPlan(op, loc, set_mask, mask, lanes, repeats.Checked(op, loc));
}

}  // namespace gn_twin
