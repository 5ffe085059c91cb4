// The gradients of y = x W^T + b: dx = dy W, dW = dy^T x, db = the sum of dy over the rows.
//
// Both products are sums of rows: a row of dx is a sum of rows of W, each times one number of dy, and a row of dW one of rows of x, each
// times one number of dy, too. So one piece of code makes both, a tile of the result at a time, and db comes along with the first tiles
// of dW, which have the numbers of dy in local memory anyway. No two cores write into one tile: nothing is atomic, every sum has one
// order, and the results are the same bits on any number of cores.
// One instruction adds 64 columns of one row, times a number for each row of the result: Brcb makes a block of eight equal numbers of
// each, which a repeat reads eight times (a block stride of 0). The timeline should show V as the busiest pipe.
#include "linear_rows.h"

extern "C" __global__ __aicore__ void linear_backward_kernel(GM_ADDR dy, GM_ADDR x, GM_ADDR weight, GM_ADDR dx,
                                                             GM_ADDR dweight, GM_ADDR dbias, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ LinearBackwardTilingData*>(tiling);
  RunForDtype<LinearBackwardAlone>(numbers->tilingKey, dy, x, weight, dx, dweight, dbias, numbers);
}
