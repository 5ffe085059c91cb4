// The gradients of GroupNorm, step 5: every shape, every dtype, and only what is wanted.
//
// New since step 3: (1) what fits stays. The pieces of a group wait in local memory until its sums are known, and become dx where
// they lie: dy and x are read once. Of a larger group the last pieces stay, and only the others come again. (2) Groups that are left
// when every core has the same number are divided among all cores; their chunks' sums are combined in one order. (3) Of small groups
// many are worked on at once, as in step 6 of the forward pass; the tiling key says which way a launch goes. (4) The saved mean is a
// rounded float; the sum of x - mean says what it lacks, and both stages correct for it. (5) output_mask: a gradient that is not
// wanted is neither computed nor written, and what only it needs is not read. (6) half and bfloat16 come and leave as they are, and
// in between everything is float. (7) The second stage takes the sums of many samples in one copy. The sums of rows take the way of
// step 3, the same bits in any order and on any number of cores.
// The timeline should show MTE2 with hardly a gap, V and MTE3 below it, and a short second stage after the meeting of the cores; of
// small groups a few long bars of V.
#include "group_norm_backward_5_any.h"

extern "C" __global__ __aicore__ void group_norm_backward_any(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                              GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta,
                                                              GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  RunGroupNormBackwardByKey<GroupNormBackwardIdentity>(dy, x, mean, rstd, gamma, nullptr, dx, dgamma, dbeta, workspace,
                                                       tiling);
}
