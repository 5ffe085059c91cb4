// GroupNorm and SiLU of a channels-last tensor in one kernel: group_norm_nhwc with the epilogue of group_norm_silu.
//
// New since group_norm_nhwc: y = g / (1 + e^-g) is made of g while that is in local memory, in two halves, because the second work
// buffer has room for half a piece. The timeline should show what group_norm_nhwc shows, with longer bars of V.
#include "group_norm_nhwc.h"

extern "C" __global__ __aicore__ void group_norm_silu_nhwc(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                                           GM_ADDR mean, GM_ADDR rstd, GM_ADDR workspace,
                                                           GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormNhwcTilingData*>(tiling);
  RunForDtype<GroupNormSiluNhwc>(numbers->dtype, x, gamma, beta, y, mean, rstd, workspace, numbers);
}
