// The gradients of y = gelu(h), h = x W^T + b: those of Linear, for dh = dy gelu'(h) in the place of dy.
//
// dh is nowhere in memory: a tile of dy and the tile of h beside it become one of dh when they come, for dx and for dW. So a tile of dh
// is computed as often as a tile of dy is read, once for each 128 columns of dx and again for each of dW. Where K is long that is more
// than a launch of its own takes, which computes it once. The timeline should show V as the busiest pipe.
#include "../common/common_gelu_erf.h"
#include "../common/common_gelu_tanh.h"
#include "linear_rows.h"

// approximate: as in linear_gelu.cpp.
extern "C" __global__ __aicore__ void linear_gelu_backward_kernel(GM_ADDR dy, GM_ADDR preactivation, GM_ADDR x,
                                                                  GM_ADDR weight, GM_ADDR dx, GM_ADDR dweight,
                                                                  GM_ADDR dbias, uint32_t approximate, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ LinearBackwardTilingData*>(tiling);
  if (approximate == 0) {
    RunForDtype<LinearBackwardWith<GeluErfBackward>::Kernel>(numbers->tilingKey, dy, x, weight, dx, dweight, dbias,
                                                             numbers, preactivation);
  } else {
    RunForDtype<LinearBackwardWith<GeluTanhBackward>::Kernel>(numbers->tilingKey, dy, x, weight, dx, dweight, dbias,
                                                              numbers, preactivation);
  }
}
