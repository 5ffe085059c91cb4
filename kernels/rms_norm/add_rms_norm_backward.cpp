// The gradients of the RMSNorm of a sum: dx, which is the residual's too, and dgamma.
//
// The sum is an output of the forward pass: the stream that goes on. So two gradients reach it, the one through y, as rms_norm_backward
// computes it, and dsum, the one that comes back along the stream. Both summands of the sum have their sum as gradient:
//
//   dx_i = r * (gamma_i dy_i - h_i * c) + dsum_i        with r, h and c as in rms_norm_backward.cpp, of the forward pass's sum
//
// Two launches write the first term, rounded, and read it again. Here dsum is added on the core, and the result is rounded once: per
// element two tensors less move. The timeline should show a third copy on MTE2 for each tile, and one Add more on V.
#include "rms_norm_backward_stages.h"

extern "C" __global__ __aicore__ void add_rms_norm_backward_kernel(GM_ADDR dy, GM_ADDR dsum, GM_ADDR x, GM_ADDR rstd,
                                                                   GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma,
                                                                   GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  RunRmsNormBackwardForDtype<true>(dy, x, rstd, gamma, dx, dgamma, workspace, tiling, dsum);
}
