// Functions of operator repositories (Ops::Base) that give sizes and core counts of the chip to tiling functions. They
// take any context.
//
// Source: the list of operator interfaces (aolapi), op_common, platform. The sizes are those of Atlas A2: a block has
// 32 bytes, the register or repeat of a vector instruction 256, and a line of the second-level cache 512.
#pragma once
#include <stdint.h>

#include "gn_twin/host/platform_ascendc.h"

namespace Ops::Base {

template <class Context>
uint32_t GetUbBlockSize(const Context*) {
  return 32;
}
template <class Context>
uint32_t GetVRegSize(const Context*) {
  return 256;
}
template <class Context>
uint32_t GetCacheLineSize(const Context*) {
  return 512;
}

template <class Context>
uint32_t GetAivCoreNum(const Context* context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
}
template <class Context>
uint32_t GetAicCoreNum(const Context* context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAic();
}
template <class Context>
uint32_t GetUbSize(const Context* context) {
  uint64_t bytes = 0;
  platform_ascendc::PlatformAscendC(context->GetPlatformInfo())
      .GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
  return static_cast<uint32_t>(bytes);
}
template <class Context>
uint32_t GetWorkspaceSize(const Context* context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetLibApiWorkSpaceSize();
}

}  // namespace Ops::Base
