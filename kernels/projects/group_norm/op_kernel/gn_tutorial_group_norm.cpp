// The kernel of GnTutorialGroupNorm: step 8 of the course behind the entry that an operator package asks for.
//
// DTYPE_X is the type of x in the build for a column of the definition, and each tiling key has a build of its own, so that every
// binary has one of the nine cases. Not run on an NPU here.
#include "gn_tutorial_constant.h"
#include "group_norm/group_norm_8_any.h"
#include "kernel_operator.h"

// A tiling key is written as a number, because the build reads it from the text.
static_assert(kGroupNormSmallWay == 100 && kGroupNormSplitWay == 200 && kGroupNormSingleWay == 300);

extern "C" __global__ __aicore__ void gn_tutorial_group_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                                             GM_ADDR mean, GM_ADDR rstd, GM_ADDR workspace,
                                                             GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  REGISTER_TILING_DEFAULT(GroupNormTilingData);
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling);
  if (numbers->totalGroups == 0) return;  // an empty batch
  GM_ADDR own = AscendC::GetUserWorkspace(workspace);
  {
    AscendC::TPipe pipe;
    GnTutorialConstants<DTYPE_X> constants(&pipe, own + GnTutorialRoundUp(numbers->workspaceBytes), numbers->channels);
    gamma = constants.Given(gamma, true);
    beta = constants.Given(beta, false);
    constants.Finish();
  }
  if (TILING_KEY_IS(100)) {
    RunGroupNorm<GroupNormSmall<DTYPE_X, GroupNormIdentity>>(x, gamma, beta, y, mean, rstd, numbers);
  } else if (TILING_KEY_IS(200)) {
    RunGroupNormShared<GroupNormSplit<DTYPE_X, GroupNormIdentity>>(x, gamma, beta, y, mean, rstd, own, numbers);
  } else if (TILING_KEY_IS(300)) {
    RunGroupNorm<GroupNormSingle<DTYPE_X, GroupNormIdentity>>(x, gamma, beta, y, mean, rstd, numbers);
  }
}
