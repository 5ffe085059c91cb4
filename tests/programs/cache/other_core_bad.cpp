// Two cores exchange a value: each cleans the line it wrote, or another one, before they meet.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cache_other_core_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 1024);
  const uint64_t block = static_cast<uint64_t>(GetBlockIdx());
  out.SetValue(block * 16, 1.0f);
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(out[256]);
  SyncAll();
  const float other = out.GetValue((1 - block) * 16);  // expect: cache-not-cleaned
  out.SetValue(block * 16 + 256, other);
}
