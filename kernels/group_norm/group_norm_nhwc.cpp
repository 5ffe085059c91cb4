// GroupNorm of a channels-last tensor (NHWC): x is (N, spatial..., C), and a group is some columns of rows of C channels.
//
// What is different from (N, C, spatial...): a group does not lie in one run of memory, so it is not copied as one. Whole rows of all
// groups are, as long as a period of them fits: bursts are long whatever the groups are. Sums are taken for each channel of a row,
// lane by lane, and only when a chunk ends are the channels of a group added up. Samples are dealt to cores; those that are left over
// are divided by rows, and the cores exchange sums of groups through the workspace.
// The timeline should show MTE2 without a gap in the first half of a run, and MTE3 in the second, where x comes from the L2 cache.
#include "group_norm_nhwc.h"

extern "C" __global__ __aicore__ void group_norm_nhwc(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                      GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormNhwcTilingData*>(tiling);
  RunForDtype<GroupNormNhwc>(numbers->dtype, x, gamma, beta, y, mean, rstd, workspace, numbers);
}
