// The kernel's type, as KERNEL_TASK_TYPE and KERNEL_TASK_TYPE_DEFAULT set it: which cores the device starts, and
// whether they can wait for each other.
//
// Source: docs/zh/api, Kernel-Tiling (设置Kernel类型) and 核间同步 (CrossCoreSetFlag: with an _ONLY type, the device does not
// start the scheduling hardware that cores need to wait for each other). A kernel that sets no type is not checked,
// because the toolchain infers one.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

// Sets the kernel's type. The type of a tiling key takes precedence over the default of all keys.
GNT_COLD inline void SetKernelType(AscendC::KernelMetaType type, const char* name, bool of_key, Loc loc = Loc::here()) {
  Core& core = ThisCore();
  if (core.kernel_type.of_key && !of_key) return;
  const bool one_kind = type == AscendC::KERNEL_TYPE_AIV_ONLY || type == AscendC::KERNEL_TYPE_AIC_ONLY;
  core.kernel_type = {name, loc, of_key, !one_kind};
}

// Reports `op`, which makes cores wait for each other, if the kernel's type does not allow it.
inline void RequireWaitingCores(Core& core, const char* op, Loc loc) {
  if (!kObserved || core.kernel_type.waits) [[likely]]
    return;
  core.Fault("kernel-type-sync", loc, {},
             {{"op", op},
              {"type", core.kernel_type.name},
              {"type_op", core.kernel_type.of_key ? "KERNEL_TASK_TYPE" : "KERNEL_TASK_TYPE_DEFAULT"},
              {"type_file", core.kernel_type.set.file},
              {"type_line", core.kernel_type.set.line}});
}

}  // namespace gn_twin

#define KERNEL_TASK_TYPE_DEFAULT(TYPE)                       \
  do {                                                       \
    static_assert(AscendC::TYPE < AscendC::KERNEL_TYPE_MAX); \
    gn_twin::SetKernelType(AscendC::TYPE, #TYPE, false);     \
  } while (false)
#define KERNEL_TASK_TYPE(KEY, TYPE)                                        \
  do {                                                                     \
    static_assert(AscendC::TYPE < AscendC::KERNEL_TYPE_MAX);               \
    if (gn_twin::ThisCore().job->tiling_key == static_cast<uint64_t>(KEY)) \
      gn_twin::SetKernelType(AscendC::TYPE, #TYPE, true);                  \
  } while (false)
