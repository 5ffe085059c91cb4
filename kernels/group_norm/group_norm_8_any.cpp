// GroupNorm, step 8: one kernel for every shape.
//
// New since step 7: nothing is computed differently. The host's tiling function knows the shape, chooses the way that suits it, and
// says so by a number, the tiling key: small groups go the way of step 6, all others that of step 7, which is step 5 where every
// core has as many groups. The kernel has one branch for each key and decides nothing itself.
// The key is a field of the tiling struct. In an operator package the host would hand the same number to SetTilingKey and the kernel
// ask TILING_KEY_IS; kernels that are launched directly do not have that macro.
// The timeline should show what the better of steps 6 and 7 shows.
#include "group_norm_6_small.h"
#include "group_norm_7_split.h"

extern "C" __global__ __aicore__ void group_norm_any(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                     GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  AscendC::TPipe pipe;
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling);
  if (numbers->tilingKey == kGroupNormSmallWay + kGroupNormFloat) {
    GroupNormSmall op;
    op.Init(&pipe, x, gamma, beta, y, mean, rstd, numbers);
    op.Process();
  } else if (numbers->tilingKey == kGroupNormSplitWay + kGroupNormFloat) {
    GroupNormSplit<float> op;
    op.Init(&pipe, x, gamma, beta, y, mean, rstd, workspace, numbers);
    op.Process();
  }
}
