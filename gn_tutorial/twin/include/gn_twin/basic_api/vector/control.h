// Bit 48 of the control register, as documented for Atlas A2: whether half and bfloat16_t results saturate.
//
// Source: docs/zh/api, 特殊寄存器访问. 0: infinity becomes the largest number, NaN becomes 0. 1: infinity and NaN stay. Until
// a kernel sets the bit, the launch's option half_overflow decides (docs/hardware-choices.md).
#pragma once
#include "gn_twin/core/core.h"

namespace AscendC {

enum class SaturationMode : uint8_t { FLOAT, CAST };

template <int8_t startBit, int8_t endBit>
inline void SetCtrlSpr(int64_t value) {
  static_assert(startBit == 48 && endBit == 48, "SetCtrlSpr on Atlas A2 sets bit 48");
  gn_twin::ThisCore().saturate = value == 0;
}
template <int8_t startBit, int8_t endBit>
inline int64_t GetCtrlSpr() {
  static_assert(startBit == 48 && endBit == 48, "not on the twin yet: GetCtrlSpr of other bits than 48");
  return gn_twin::Saturates(gn_twin::ThisCore()) ? 0 : 1;
}

template <SaturationMode mode>
inline void SetSaturationFlag(bool enableSat) {
  static_assert(mode == SaturationMode::FLOAT, "not on the twin yet: SetSaturationFlag with SaturationMode::CAST");
  gn_twin::ThisCore().saturate = enableSat;
}
template <SaturationMode mode>
inline bool GetSaturationFlag() {
  static_assert(mode == SaturationMode::FLOAT, "not on the twin yet: GetSaturationFlag with SaturationMode::CAST");
  return gn_twin::Saturates(gn_twin::ThisCore());
}

}  // namespace AscendC
