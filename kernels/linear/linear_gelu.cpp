// y = gelu(x W^T + b): GELU is the epilogue of Linear, and the pre-activation h = x W^T + b goes to memory only where somebody asks for it.
//
// Two launches write h, read it and write y. Here a unit's sums pass through the formula while they are in local memory; in halves they
// have not been rounded yet. Training asks for h, because its gradient costs R O numbers to keep and R O K products to compute again.
// The formula costs the vector unit its 7 or 28 instructions for each unit of at most 256 elements, most of them the start of an
// instruction: where K is short and y is large, that is more than a launch of GELU on long tiles takes. The timeline should show V
// without a gap, as Linear's.
#include "../common/common_gelu_erf.h"
#include "../common/common_gelu_tanh.h"
#include "linear_lanes.h"

// approximate: 0 for none, 1 for tanh, as aclnnGeluV2 numbers them. wanted: bit 0 for y, bit 1 for h; the other is not written.
extern "C" __global__ __aicore__ void linear_gelu_kernel(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y,
                                                         GM_ADDR preactivation, uint32_t approximate, uint32_t wanted,
                                                         GM_ADDR tiling) {
  if (wanted == 0) return;
  const auto* numbers = reinterpret_cast<const __gm__ LinearTilingData*>(tiling);
  if (approximate == 0) {
    RunForDtype<LinearWith<GeluErf>::Kernel>(numbers->tilingKey, x, weight, bias, y, numbers, preactivation, wanted);
  } else {
    RunForDtype<LinearWith<GeluTanh>::Kernel>(numbers->tilingKey, x, weight, bias, y, numbers, preactivation, wanted);
  }
}
