// GroupNorm and SiLU in one kernel: y = g / (1 + e^-g), with g the result of GroupNorm.
//
// New since step 8: the epilogue. Two operators would write g, and read it again to make y of it; here y is made of g while that is
// in local memory. mean and rstd leave as before, so that a backward pass can compute g again from x.
// The timeline should show what step 8 shows, with longer bars of V: four instructions more for each piece.
#include "group_norm_8_any.h"

extern "C" __global__ __aicore__ void group_norm_silu(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                      GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  RunGroupNormByKey<GroupNormSilu>(x, gamma, beta, y, mean, rstd, workspace, tiling);
}
