// Blocks that take turns store into one line: each gives it back to global memory before the next one's turn.
// blocks: 3
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cache_turns_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 128);
  LocalTensor<int32_t> local = buffer.Get<int32_t>();
  GlobalTensor<float> yGm;
  GlobalTensor<int32_t> words;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  words.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y) + 512);
  InitDetermineComputeWorkspace(words, local);
  WaitPreBlock(words, local);
  yGm.SetValue(GetBlockIdx(), 1.0f);
  DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(yGm);
  NotifyNextBlock(words, local);
}
