// GroupNorm, step 8: every shape and every dtype.
//
// New since step 7: one kernel for all. The host's tiling function knows the shape and the dtype, chooses the way that suits them, and
// says so by a number, the tiling key: small groups go the way of step 6, all others that of step 7, which is step 5 where every
// core has as many groups. Groups of one element have a way of their own, without statistics. The kernel has one branch for each key
// and decides nothing itself. half and bfloat16 come and leave as they are, and in between everything is float.
// The key is a field of the tiling struct. In an operator package the host would hand the same number to SetTilingKey and the kernel
// ask TILING_KEY_IS; kernels that are launched directly do not have that macro.
// The timeline should show what the better of steps 6 and 7 shows; for half, bars of MTE2 and MTE3 of half the length, and those of V
// longer by the casts.
#include "group_norm_8_any.h"

extern "C" __global__ __aicore__ void group_norm_any(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                     GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  RunGroupNormByKey<GroupNormIdentity>(x, gamma, beta, y, mean, rstd, workspace, tiling);
}
