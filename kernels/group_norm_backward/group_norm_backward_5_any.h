// The gradients of GroupNorm, step 5, the dispatch: what its .cpp says at the top. Epilogue: what dy goes through before, such as the slope of
// SiLU; beta is read then.
#pragma once
#include "group_norm_backward_channels.h"
#include "group_norm_backward_groups.h"
#include "group_norm_backward_small.h"

// First: the class of the first stage.
template <class T, class First>
__aicore__ inline void RunGroupNormBackward(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                                            GM_ADDR beta, GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                                            const __gm__ GroupNormBackwardTilingData* numbers) {
  AscendC::TPipe pipe;
  First groups;
  groups.Init(&pipe, dy, x, mean, rstd, gamma, dx, workspace, numbers, beta);
  groups.Process();
  if ((numbers->mask & (kGroupNormWantDgamma | kGroupNormWantDbeta)) == 0) return;
  AscendC::SyncAll();
  pipe.Reset();  // all of local memory, for the second stage
  GroupNormBackwardChannels<T> channels;
  channels.Init(&pipe, rstd, dgamma, dbeta, workspace, numbers);
  channels.Process();
}

template <class Epilogue>
__aicore__ inline void RunGroupNormBackwardByKey(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                                                 GM_ADDR beta, GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta,
                                                 GM_ADDR workspace, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormBackwardTilingData*>(tiling);
  switch (numbers->tilingKey) {
    case kGroupNormBackwardSmallWay + kGroupNormBackwardFloat:
      return RunGroupNormBackward<float, GroupNormBackwardSmall<float, Epilogue>>(dy, x, mean, rstd, gamma, beta, dx,
                                                                                  dgamma, dbeta, workspace, numbers);
    case kGroupNormBackwardSmallWay + kGroupNormBackwardHalf:
      return RunGroupNormBackward<half, GroupNormBackwardSmall<half, Epilogue>>(dy, x, mean, rstd, gamma, beta, dx,
                                                                                dgamma, dbeta, workspace, numbers);
    case kGroupNormBackwardSmallWay + kGroupNormBackwardBfloat16:
      return RunGroupNormBackward<bfloat16_t, GroupNormBackwardSmall<bfloat16_t, Epilogue>>(
          dy, x, mean, rstd, gamma, beta, dx, dgamma, dbeta, workspace, numbers);
    case kGroupNormBackwardPiecesWay + kGroupNormBackwardFloat:
      return RunGroupNormBackward<float, GroupNormBackwardGroups<float, Epilogue>>(dy, x, mean, rstd, gamma, beta, dx,
                                                                                   dgamma, dbeta, workspace, numbers);
    case kGroupNormBackwardPiecesWay + kGroupNormBackwardHalf:
      return RunGroupNormBackward<half, GroupNormBackwardGroups<half, Epilogue>>(dy, x, mean, rstd, gamma, beta, dx,
                                                                                 dgamma, dbeta, workspace, numbers);
    case kGroupNormBackwardPiecesWay + kGroupNormBackwardBfloat16:
      return RunGroupNormBackward<bfloat16_t, GroupNormBackwardGroups<bfloat16_t, Epilogue>>(
          dy, x, mean, rstd, gamma, beta, dx, dgamma, dbeta, workspace, numbers);
  }
}
