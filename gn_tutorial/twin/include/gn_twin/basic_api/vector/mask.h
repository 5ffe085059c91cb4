// The mask register as kernels set it: SetVectorMask, SetMaskCount, SetMaskNorm, ResetMask; AscendCUtils; InitSocState.
//
// Source: docs/zh/api, 掩码操作. The hardware keeps the order between setting the mask and vector instructions, so
// setting it is never a race.
#pragma once
#include "gn_twin/tensor/lanes.h"

namespace AscendC {

// SetMaskCount and SetMaskNorm choose the mode. In counter mode the register holds a number of elements, in normal mode
// one bit per lane.
inline void SetMaskCount(gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::ThisCore().mask.counter = true;
  gn_twin::ThisCore().counter_set = loc;
}
inline void SetMaskNorm() { gn_twin::ThisCore().mask.counter = false; }
// Sets the bits of all lanes. The mode stays.
inline void ResetMask() {
  gn_twin::Core& core = gn_twin::ThisCore();
  core.mask.low = core.mask.high = ~uint64_t{0};
  core.mask.unused = false;
  core.mask_lost = {};
}

// Sets the register; the high word comes first. With MaskMode::COUNTER the low word is the number of elements.
template <class T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Core& core = gn_twin::ThisCore();
  core.mask.set = loc;
  core.mask.op = "SetVectorMask";
  core.mask.unused = true;
  core.mask_lost = {};
  core.mask.low = maskLow;
  core.mask.high = maskHigh;
  if (gn_twin::kObserved && mode == MaskMode::COUNTER && maskHigh != 0)
    core.Fault("mask-counter-words", loc, {}, {{"op", "SetVectorMask"}, {"high", maskHigh}, {"low", maskLow}});
}
template <class T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(int32_t len, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::Core& core = gn_twin::ThisCore();
  core.mask.set = loc;
  core.mask.op = "SetVectorMask";
  core.mask.unused = true;
  core.mask_lost = {};
  if constexpr (mode == MaskMode::COUNTER) {
    core.mask.low = static_cast<uint64_t>(len);
    core.mask.high = 0;
  } else {
    gn_twin::WriteMask(core, static_cast<uint64_t>(len), gn_twin::kLanes<T>);
  }
}

// Names of CANN 8 that public kernels use.
struct AscendCUtils {
  template <class T>
  static void SetMask(const uint64_t& maskHigh, const uint64_t& maskLow, gn_twin::Loc loc = gn_twin::Loc::here()) {
    SetVectorMask<T>(maskHigh, maskLow, loc);
  }
  template <class T>
  static void SetMask(int32_t len, gn_twin::Loc loc = gn_twin::Loc::here()) {
    SetVectorMask<T>(len, loc);
  }
  static void ResetMask() { AscendC::ResetMask(); }
  // Sets bit 48 of the control register. 1 keeps infinity and NaN.
  static void SetOverflow(uint64_t ctrlValue) { gn_twin::ThisCore().saturate = ctrlValue == 0; }
  static constexpr int32_t GetBitSize(int32_t bytes) { return bytes * ONE_BYTE_BIT_SIZE; }
  static constexpr int32_t GetC0Count(int32_t element_bytes) { return DEFAULT_C0_SIZE / element_bytes; }
};

// Sets the initial state of the mask register and of atomic stores. A kernel without TPipe calls it; TPipe's
// constructor sets this state itself.
inline void InitSocState() {
  gn_twin::ResetMaskRegister(gn_twin::ThisCore());
  gn_twin::ThisCore().atomic = gn_twin::ThisCore().atomic_type = 0;
}

}  // namespace AscendC
