// GroupNorm, step 5: what fits stays.
//
// New since step 4: x is read once. Step 4 reads every group twice, for the statistics and for the result; here the pieces of a
// group wait in local memory until its statistics are known, and are normalised where they lie. Of a group larger than local memory
// the last pieces stay, and only the others come again; in between, the first pieces of the next group are read and measured, so
// that memory never waits for results to leave. The statistics are exact in two steps: chunks of pieces give sums about a pivot of
// their own, which are then moved to one pivot. What stays is x as it came.
// The scalar unit waits once a group. The timeline should show MTE2 without a gap, and half as long as in step 4.
#include "group_norm_5_resident.h"

extern "C" __global__ __aicore__ void group_norm_resident(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                                          GM_ADDR mean, GM_ADDR rstd, GM_ADDR workspace,
                                                          GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormResident<float> op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling));
  op.Process();
}
