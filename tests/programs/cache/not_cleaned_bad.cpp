// A value goes through global memory to a copy. The cache is cleaned from the given element to the end of its line.
// blocks: 1
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cache_not_cleaned_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 32);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 1024);
  out.SetValue(3, 1.0f);
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(out[4]);
  const TEventID id = pipe.FetchEventID<HardEvent::S_MTE2>();
  SetFlag<HardEvent::S_MTE2>(id);
  WaitFlag<HardEvent::S_MTE2>(id);
  LocalTensor<float> tile = queue.AllocTensor<float>();
  DataCopy(tile, out, 8);  // expect: cache-not-cleaned
  queue.EnQue(tile);
  tile = queue.DeQue<float>();
  queue.FreeTensor(tile);
}
