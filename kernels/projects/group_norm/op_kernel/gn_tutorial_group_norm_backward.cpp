// The kernel of GnTutorialGroupNormBackward: step 5 of the course behind the entry that an operator package asks for.
//
// DTYPE_X is the type of x in the build for a column of the definition, and each tiling key has a build of its own. A gradient that
// output_mask does not want is neither computed nor written. Not run on an NPU here.
#include "gn_tutorial_constant.h"
#include "group_norm_backward/group_norm_backward_channels.h"
#include "group_norm_backward/group_norm_backward_groups.h"
#include "group_norm_backward/group_norm_backward_small.h"
#include "kernel_operator.h"

// A tiling key is written as a number, because the build reads it from the text.
static_assert(kGroupNormBackwardSmallWay == 100 && kGroupNormBackwardPiecesWay == 200);

// First: the class of the first stage.
template <class T, class First>
__aicore__ inline void RunBackward(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma, GM_ADDR dx,
                                   GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                                   const __gm__ GroupNormBackwardTilingData* numbers) {
  AscendC::TPipe pipe;
  First groups;
  groups.Init(&pipe, dy, x, mean, rstd, gamma, dx, workspace, numbers);
  groups.Process();
  if ((numbers->mask & (kGroupNormWantDgamma | kGroupNormWantDbeta)) == 0) return;
  AscendC::SyncAll();
  pipe.Reset();  // all of local memory, for the second stage
  GroupNormBackwardChannels<T> channels;
  channels.Init(&pipe, rstd, dgamma, dbeta, workspace, numbers);
  channels.Process();
}

extern "C" __global__ __aicore__ void gn_tutorial_group_norm_backward(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                                      GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma,
                                                                      GM_ADDR dbeta, GM_ADDR workspace,
                                                                      GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  REGISTER_TILING_DEFAULT(GroupNormBackwardTilingData);
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormBackwardTilingData*>(tiling);
  if (numbers->mask == 0) return;
  GM_ADDR own = AscendC::GetUserWorkspace(workspace);
  {
    AscendC::TPipe pipe;
    GnTutorialConstants<DTYPE_X> constants(&pipe, own + GnTutorialRoundUp(numbers->workspaceBytes), numbers->channels);
    gamma = constants.Given(gamma, true);
    constants.Finish();
  }
  if (TILING_KEY_IS(100)) {
    RunBackward<DTYPE_X, GroupNormBackwardSmall<DTYPE_X>>(dy, x, mean, rstd, gamma, dx, dgamma, dbeta, own, numbers);
  } else if (TILING_KEY_IS(200)) {
    RunBackward<DTYPE_X, GroupNormBackwardGroups<DTYPE_X>>(dy, x, mean, rstd, gamma, dx, dgamma, dbeta, own, numbers);
  }
}
