// y = x W^T + b, on the vector unit: each element of y is the inner product of a row of x and a row of W.
//
// On hardware this is work for the cube unit, which multiplies 16 x 16 x 16 numbers in one step; here the point is an operator with a
// weight, a bias and three gradients, and how far the vector unit comes. One instruction multiplies 64 columns of one row of x with the
// same columns of all rows of W in the tile: a repeat is a row of W, and the 64 numbers of x stay where they are (a stride of 0). Every
// element of y has 64 sums, one for each lane, so that nothing is added across lanes before the last column.
// x, W and b may be half or bfloat16: the products and sums are floats. The timeline should show V without a gap, MTE2 in its shadow.
#include "linear_lanes.h"

extern "C" __global__ __aicore__ void linear_kernel(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y,
                                                    GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ LinearTilingData*>(tiling);
  RunForDtype<LinearAlone>(numbers->tilingKey, x, weight, bias, y, numbers);
}
