// GroupNorm, step 8, the dispatch: what its .cpp says at the top. Epilogue: what is done to the results besides, such as SiLU.
#pragma once
#include "group_norm_6_small.h"
#include "group_norm_7_split.h"
#include "group_norm_single.h"

template <class T, class Epilogue>
__aicore__ inline void RunGroupNormSmall(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                         const __gm__ GroupNormTilingData* numbers) {
  AscendC::TPipe pipe;
  GroupNormSmall<T, Epilogue> op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, numbers);
  op.Process();
}

template <class T, class Epilogue>
__aicore__ inline void RunGroupNormSplit(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                         GM_ADDR workspace, const __gm__ GroupNormTilingData* numbers) {
  AscendC::TPipe pipe;
  GroupNormSplit<T, Epilogue> op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, workspace, numbers);
  op.Process();
}

template <class T, class Epilogue>
__aicore__ inline void RunGroupNormSingle(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                          const __gm__ GroupNormTilingData* numbers) {
  AscendC::TPipe pipe;
  GroupNormSingle<T, Epilogue> op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, numbers);
  op.Process();
}

template <class Epilogue>
__aicore__ inline void RunGroupNormByKey(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                         GM_ADDR workspace, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling);
  switch (numbers->tilingKey) {
    case kGroupNormSmallWay + kGroupNormFloat:
      return RunGroupNormSmall<float, Epilogue>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSmallWay + kGroupNormHalf:
      return RunGroupNormSmall<half, Epilogue>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSmallWay + kGroupNormBfloat16:
      return RunGroupNormSmall<bfloat16_t, Epilogue>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSplitWay + kGroupNormFloat:
      return RunGroupNormSplit<float, Epilogue>(x, gamma, beta, y, mean, rstd, workspace, numbers);
    case kGroupNormSplitWay + kGroupNormHalf:
      return RunGroupNormSplit<half, Epilogue>(x, gamma, beta, y, mean, rstd, workspace, numbers);
    case kGroupNormSplitWay + kGroupNormBfloat16:
      return RunGroupNormSplit<bfloat16_t, Epilogue>(x, gamma, beta, y, mean, rstd, workspace, numbers);
    case kGroupNormSingleWay + kGroupNormFloat:
      return RunGroupNormSingle<float, Epilogue>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSingleWay + kGroupNormHalf:
      return RunGroupNormSingle<half, Epilogue>(x, gamma, beta, y, mean, rstd, numbers);
    case kGroupNormSingleWay + kGroupNormBfloat16:
      return RunGroupNormSingle<bfloat16_t, Epilogue>(x, gamma, beta, y, mean, rstd, numbers);
  }
}
