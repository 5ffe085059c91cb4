// A local array has room for as many elements as its declaration says; the access behind them reaches other variables.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_array_index_bad(GM_ADDR x, GM_ADDR y) {
  struct {
    int32_t counts[4];
    int32_t behind[4];
  } of = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  for (int32_t i = 0; i < 8; ++i) {
    of.counts[i] += 1;  // expect: array-index
  }
  GlobalTensor<int32_t> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y), 64);
  yGm.SetValue(0, of.counts[0] + of.behind[0]);
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(yGm);
}
