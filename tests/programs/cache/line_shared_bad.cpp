// Two cores write their results with SetValue: 64 bytes apart, or into one cache line.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cache_line_shared_bad(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 1024);
  const uint64_t block = static_cast<uint64_t>(GetBlockIdx());
  const uint64_t at = block * 8;
  out.SetValue(at, 1.0f);  // expect: cache-line-shared
}
