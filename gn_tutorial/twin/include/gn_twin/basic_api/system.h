// Functions that tell a block about its launch: its index, the number of blocks, the workspace, its kind of core.
//
// Source: docs/zh/api, 工具接口/系统资源与变量 and 资源管理 (workspace).
#pragma once
#include <time.h>

#include "gn_twin/core/core.h"

namespace AscendC {

inline int64_t GetBlockIdx() { return gn_twin::ThisCore().block; }
inline int64_t GetBlockNum() { return gn_twin::ThisCore().job->blocks; }
// A launch has vector cores only, so a block is one sub-block and one task.
inline int64_t GetSubBlockIdx() { return 0; }
inline int64_t GetSubBlockNum() { return 1; }
inline int64_t GetTaskRation() { return 1; }
inline int64_t GetTaskRatio() { return 1; }

// Returns the kernel's part of the workspace. On the device the system reserves the workspace's beginning; here the
// whole workspace belongs to the kernel.
inline __gm__ uint8_t* GetUserWorkspace(GM_ADDR workspace) { return workspace; }
inline __gm__ uint8_t* GetSysWorkSpacePtr() {
  const GntJob& job = *gn_twin::ThisCore().job;
  for (uint32_t i = 0; i < job.arg_count; ++i) {
    if (job.args[i].kind == GNT_TENSOR && job.args[i].role == GNT_WORKSPACE)
      return gn_twin::SpaceCast<GM_ADDR>(job.args[i].data);
  }
  return nullptr;
}
inline void SetSysWorkspace(GM_ADDR) {}

// Returns a counter with which a kernel measures its own time: 50 counts per microsecond, as documented for Atlas A2.
// It counts the twin's real time, not a modelled time of the device.
inline int64_t GetSystemCycle() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 50000000 + now.tv_nsec / 20;
}

// SetNextTaskStart and WaitPreTaskEnd let a task start early inside a SuperKernel. In a separate launch both do
// nothing, as documented.
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false>
inline void SetNextTaskStart() {}
template <bool FORCE = false>
inline void WaitPreTaskEnd() {}

enum class CoreType : uint8_t { AIC, AIV };

}  // namespace AscendC

using AscendC::CoreType;
inline constexpr CoreType AIV = CoreType::AIV;
inline constexpr CoreType AIC = CoreType::AIC;
inline constexpr CoreType g_coreType = AIV;

// Kernels use these macros without parentheses: `if ASCEND_IS_AIV { ... }`.
#define ASCEND_IS_AIV constexpr(g_coreType == AIV)
#define ASCEND_IS_AIC constexpr(g_coreType == AIC)
#define ASCEND_IS_NOT_AIV constexpr(g_coreType != AIV)
#define ASCEND_IS_NOT_AIC constexpr(g_coreType != AIC)
