// The gradients of GroupNorm of a channels-last tensor (NHWC): dx, dgamma and dbeta from dy, x, gamma and the saved mean and rstd.
//
// As in the forward pass whole rows of all groups are copied, and sums are taken for each channel of a row, lane by lane. What is
// different from it: dgamma and dbeta are sums of channels over all samples, so the cores meet in any case, and every strip is
// divided among them. (1) A core takes chunks of rows, and leaves the sums of each in the workspace: of groups, for dx, and of
// channels, for the other two. (2) The cores meet. Each adds up the groups' sums of the strips that its chunks are in, in one order,
// and makes dx; its last pieces waited in local memory, the others come again. Now it is known what the saved mean, a rounded float,
// lacks, and the chunks' sums of channels are corrected. (3) The cores meet again, and each adds up some channels of all chunks.
// Nothing is atomic: the bits are the same in every run and on any number of cores.
// The timeline should show MTE2 with hardly a gap, V and MTE3 below it, and a short last stage.
#include "group_norm_backward_nhwc.h"
#include "group_norm_backward_nhwc_lines.h"

template <class T>
__aicore__ inline void RunGroupNormBackwardNhwc(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                                                GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                                                const __gm__ GroupNormBackwardNhwcTilingData* numbers) {
  AscendC::TPipe pipe;
  if (numbers->chunks > 0) {
    GroupNormBackwardNhwc<T> rows;
    rows.Init(&pipe, dy, x, mean, rstd, gamma, dx, workspace, numbers);
    rows.Measure();
    AscendC::SyncAll();
    rows.Apply();
  }
  if ((numbers->mask & (kNhwcWantDgamma | kNhwcWantDbeta)) == 0) return;
  if (numbers->chunks > 0) {
    AscendC::SyncAll();
    pipe.Reset();  // all of local memory, for the last stage
  }
  GroupNormBackwardNhwcLines<T> lines;
  lines.Init(&pipe, dgamma, dbeta, workspace, numbers);
  lines.Process();
}

extern "C" __global__ __aicore__ void group_norm_backward_nhwc(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                               GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta,
                                                               GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormBackwardNhwcTilingData*>(tiling);
  switch (numbers->dtype) {
    case 0: return RunGroupNormBackwardNhwc<float>(dy, x, mean, rstd, gamma, dx, dgamma, dbeta, workspace, numbers);
    case 1: return RunGroupNormBackwardNhwc<half>(dy, x, mean, rstd, gamma, dx, dgamma, dbeta, workspace, numbers);
    case 27:
      return RunGroupNormBackwardNhwc<bfloat16_t>(dy, x, mean, rstd, gamma, dx, dgamma, dbeta, workspace, numbers);
  }
}
