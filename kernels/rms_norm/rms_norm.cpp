// RMSNorm: each row of x divided by the root of the mean of its squares, y = x * rstd * gamma, rstd = 1 / sqrt(mean(x * x) + eps).
//
// GroupNorm without a mean, for the last axis: what a language model has before each layer. A row is what a core works on. It is read
// once if it fits into a tile, and otherwise twice: first for the sum, then for y. gamma stays in local memory if a row is one tile.
// No number goes through the scalar unit: sums, the root and the division are vector instructions on a block of eight floats, and a
// block stride of 0 multiplies a whole tile by it. So the scalar unit waits for nobody, and the next tile is on its way meanwhile.
// The timeline should show V as the busiest pipe, and the copies in its shadow. With rows of a few hundred elements the scalar unit is
// the slowest, because it issues some 25 instructions a row: many short lines at once, as GroupNorm has them from step 6 on, would be
// the next step.
#include "rms_norm_rows.h"

// Rows as they stand in global memory.
template <class T>
class StoredRows {
  using Tile = AscendC::LocalTensor<T>;
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint64_t elements, GM_ADDR x) {
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(T));
  }

  __aicore__ inline void Load(uint64_t at, uint32_t n, bool /*again*/) {
    Tile x = xQueue_.template AllocTensor<T>();
    CopyIn(x, xGm_[at], n);
    xQueue_.EnQue(x);
  }

  __aicore__ inline Tile Take(uint64_t /*at*/, uint32_t /*n*/, bool /*again*/, const Floats&, const Floats&) {
    return xQueue_.template DeQue<T>();
  }

  __aicore__ inline void Free(Tile& x, bool /*again*/) { xQueue_.FreeTensor(x); }

 private:
  AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue_;  // two tiles may be on their way or in work
  AscendC::GlobalTensor<T> xGm_;
};

template <class T>
using RmsNorm = RmsNormRows<T, StoredRows<T>>;

extern "C" __global__ __aicore__ void rms_norm_kernel(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR rstd,
                                                      GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ RmsNormTilingData*>(tiling);
  RunForDtype<RmsNorm>(numbers->tilingKey, numbers, gamma, y, rstd, x);
}
