// The functions and macros with which host code debugs an Ascend C kernel on the CPU: they allocate and free global
// memory, set the mode and the tiling key of a kernel, and run the kernel (ICPU_RUN_KF).
//
// Source: docs/zh/api, 调试接口/CPU孪生调试.
#pragma once
#include "kernel_operator.h"

#include "gn_twin/host/acl_runtime.h"

namespace AscendC {

enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };

inline void* GmAlloc(size_t bytes, gn_twin::Loc loc = gn_twin::Loc::here()) {
  return gn_twin::host::Now().Allocate(bytes, gn_twin::host::Where::Device, "GmAlloc", loc);
}
inline void GmFree(void* at, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::host::Now().Free(at, gn_twin::host::Where::Device, "GmFree", loc);
}
// The mode changes nothing. The twin has no matrix cores, so a kernel for matrix cores fails to compile at its first
// matrix instruction.
inline void SetKernelMode(KernelMode) {}

}  // namespace AscendC

using AscendC::KernelMode;

#define ICPU_RUN_KF(KERNEL, BLOCKS, ...) ::gn_twin::host::Start(#KERNEL, BLOCKS)([&] { KERNEL(__VA_ARGS__); })
#define ICPU_SET_TILING_KEY(KEY) (gn_twin::host::Now().job().tiling_key = static_cast<uint64_t>(KEY))
