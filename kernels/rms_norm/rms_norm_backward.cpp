// The gradients of RMSNorm: dx and dgamma from dy, and from what the forward pass saved, x, rstd and gamma.
//
// With r = rstd = 1 / sqrt(mean(x^2) + eps) of a row of K elements, y_i = gamma_i x_i r, and dr/dx_i = -r^3 x_i / K. So a loss L, with
// dy its gradient, has
//
//   dx_i = gamma_i dy_i r + dr/dx_i * sum_j(gamma_j dy_j x_j)
//        = r * (gamma_i dy_i - h_i * c),   h_i = x_i r,   c = mean_j(gamma_j dy_j h_j)
//   dgamma_i = sum over all rows of dy_i h_i
//
// The difference is taken before r is multiplied: with h, which has the size of 1, no intermediate result is much larger than the two
// terms, whatever the size of x is.
// dgamma is a sum over rows, which are on many cores. Nothing is atomic: each chunk of rows leaves a line of sums in the workspace, all
// cores meet, and each then adds up the lines of its own columns. Which rows are in a chunk, and the order of all additions, depend on
// the shape alone: the bits are the same in every run and on any number of cores.
// Rows of up to 4096 elements are read once, many short ones in one tile; longer ones come twice, once for c and once for dx. The
// timeline should show MTE2 with hardly a gap, V below it, and a short second stage after the meeting of the cores.
#include "rms_norm_backward_stages.h"

extern "C" __global__ __aicore__ void rms_norm_backward_kernel(GM_ADDR dy, GM_ADDR x, GM_ADDR rstd, GM_ADDR gamma,
                                                               GM_ADDR dx, GM_ADDR dgamma, GM_ADDR workspace,
                                                               GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  RunRmsNormBackwardForDtype<false>(dy, x, rstd, gamma, dx, dgamma, workspace, tiling, nullptr);
}
