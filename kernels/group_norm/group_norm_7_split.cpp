// GroupNorm, step 7: one group on several cores.
//
// New since step 5: no core is idle. Whole groups are dealt to the cores as long as every core gets one more; what is left, or all
// of them where there are fewer groups than cores, is divided evenly. A core takes the statistics of its share and writes them to
// the workspace; all cores meet; each reads those of the whole group and combines them in the same order, so that all get the same
// bits, on any number of cores. Then each normalises its share, which is still in local memory if it fits.
// The timeline should show all cores at work to the end, with one short gap where they meet.
#include "group_norm_7_split.h"

extern "C" __global__ __aicore__ void group_norm_split(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                       GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  AscendC::TPipe pipe;
  GroupNormSplit<float> op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, workspace, reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling));
  op.Process();
}
