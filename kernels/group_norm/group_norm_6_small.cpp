// GroupNorm, step 6: many small groups at once.
//
// New since step 5: one copy brings many groups, and one instruction works on all of them. Steps 1 to 5 take group after group; of
// groups of a few elements nearly all time is the start of instructions and the wait for each group's statistics. Here instructions
// repeat over the groups of a tile, each with a number of its own: its pivot, its mean, its 1 / sqrt(variance + eps). All of these
// stay in the vector unit, so the scalar unit reads no element and waits for nobody. gamma and beta are expanded to the tile's shape
// once, if a tile holds whole samples. A tile is as large as local memory allows for its layout (group_norm_small_tiling.h). Groups of
// which it does not hold three go the way of step 5; so do those above 1024 elements, unless there are so many that tiles follow each other.
// The timeline should show few and long bars, V under MTE2, and no round trip.
#include "group_norm_5_resident.h"
#include "group_norm_6_small.h"

extern "C" __global__ __aicore__ void group_norm_small(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                       GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  const auto* numbers = reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling);
  if (numbers->tileGroups == 0) {
    GroupNormResident<float> op;
    op.Init(&pipe, x, gamma, beta, y, mean, rstd, numbers);
    op.Process();
  } else {
    GroupNormSmall<float> op;
    op.Init(&pipe, x, gamma, beta, y, mean, rstd, numbers);
    op.Process();
  }
}
