// Both stages of RMSNorm's gradients: the rows, and when all cores have done theirs, the columns of dgamma.
#pragma once
#include "rms_norm_backward_columns.h"
#include "rms_norm_backward_rows.h"

// dsum: null, or where kPlus is set what is added to dx.
template <class T, bool kPlus>
__aicore__ inline void RunRmsNormBackward(GM_ADDR dy, GM_ADDR x, GM_ADDR rstd, GM_ADDR gamma, GM_ADDR dx,
                                          GM_ADDR dgamma, GM_ADDR workspace,
                                          const __gm__ RmsNormBackwardTilingData* numbers, GM_ADDR dsum) {
  AscendC::TPipe pipe;
  RmsNormBackwardRows<T, kPlus> rows;
  rows.Init(&pipe, dy, x, rstd, gamma, dx, workspace, numbers, dsum);
  rows.Process();
  AscendC::SyncAll();
  pipe.Reset();  // all of local memory, for the second stage
  RmsNormBackwardColumns columns;
  columns.Init(&pipe, dgamma, workspace, numbers);
  columns.Process();
}

template <bool kPlus>
__aicore__ inline void RunRmsNormBackwardForDtype(GM_ADDR dy, GM_ADDR x, GM_ADDR rstd, GM_ADDR gamma, GM_ADDR dx,
                                                  GM_ADDR dgamma, GM_ADDR workspace, GM_ADDR tiling, GM_ADDR dsum) {
  const auto* numbers = reinterpret_cast<const __gm__ RmsNormBackwardTilingData*>(tiling);
  switch (numbers->tilingKey) {
    case 0: return RunRmsNormBackward<float, kPlus>(dy, x, rstd, gamma, dx, dgamma, workspace, numbers, dsum);
    case 1: return RunRmsNormBackward<half, kPlus>(dy, x, rstd, gamma, dx, dgamma, workspace, numbers, dsum);
    case 27: return RunRmsNormBackward<bfloat16_t, kPlus>(dy, x, rstd, gamma, dx, dgamma, workspace, numbers, dsum);
  }
}
