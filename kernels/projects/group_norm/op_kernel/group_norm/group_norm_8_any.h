// GroupNorm, step 8, the dispatch: what its .cpp says at the top. Epilogue: what is done to the results besides, such as SiLU.
#pragma once
#include "group_norm_6_small.h"
#include "group_norm_7_split.h"
#include "group_norm_single.h"

template <class Op>
__aicore__ inline void RunGroupNorm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                    const __gm__ GroupNormTilingData* numbers) {
  AscendC::TPipe pipe;
  Op op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, numbers);
  op.Process();
}

template <class Op>
__aicore__ inline void RunGroupNormShared(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                          GM_ADDR workspace, const __gm__ GroupNormTilingData* numbers) {
  AscendC::TPipe pipe;
  Op op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, workspace, numbers);
  op.Process();
}

template <class Epilogue>
__aicore__ inline void RunGroupNormByKey(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                         GM_ADDR workspace, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling);
  switch (numbers->tilingKey) {
    case kGroupNormSmallWay + kGroupNormFloat:
      return RunGroupNorm<GroupNormSmall<float, Epilogue>>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSmallWay + kGroupNormHalf:
      return RunGroupNorm<GroupNormSmall<half, Epilogue>>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSmallWay + kGroupNormBfloat16:
      return RunGroupNorm<GroupNormSmall<bfloat16_t, Epilogue>>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSplitWay + kGroupNormFloat:
      return RunGroupNormShared<GroupNormSplit<float, Epilogue>>(x, gamma, beta, y, mean, rstd, workspace, numbers);
    case kGroupNormSplitWay + kGroupNormHalf:
      return RunGroupNormShared<GroupNormSplit<half, Epilogue>>(x, gamma, beta, y, mean, rstd, workspace, numbers);
    case kGroupNormSplitWay + kGroupNormBfloat16:
      return RunGroupNormShared<GroupNormSplit<bfloat16_t, Epilogue>>(x, gamma, beta, y, mean, rstd, workspace,
                                                                      numbers);
    case kGroupNormSingleWay + kGroupNormFloat:
      return RunGroupNorm<GroupNormSingle<float, Epilogue>>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSingleWay + kGroupNormHalf:
      return RunGroupNorm<GroupNormSingle<half, Epilogue>>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSingleWay + kGroupNormBfloat16:
      return RunGroupNorm<GroupNormSingle<bfloat16_t, Epilogue>>(x, gamma, beta, y, mean, rstd, numbers);
  }
}
