// The gradients of GroupNorm with SiLU behind it: dx, dgamma and dbeta from the gradient dy of y = u sigmoid(u), u = xhat gamma + beta.
//
// What reaches GroupNorm is dy silu'(u), and u was never stored: three launches would make u again, make the product, and read that for the
// gradients, each time through memory. Here both are made of a piece of dy and x while that is in local memory, so that dy and x are all
// that is read. The rest is step 5 (group_norm_backward_5_any.cpp), with the slope as its epilogue turned round: it comes first.
// Of half and bfloat16 what reaches GroupNorm waits as floats, in fewer slots; a piece that comes a second time is made anew.
// The timeline should show what step 5 shows, with bars of V more than twice as long.
#include "group_norm_backward_5_any.h"
#include "group_norm_backward_silu.h"

extern "C" __global__ __aicore__ void group_norm_silu_backward(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                               GM_ADDR gamma, GM_ADDR beta, GM_ADDR dx, GM_ADDR dgamma,
                                                               GM_ADDR dbeta, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  RunGroupNormBackwardByKey<GroupNormBackwardSilu>(dy, x, mean, rstd, gamma, beta, dx, dgamma, dbeta, workspace,
                                                   tiling);
}
