// IBSet and IBWait name a block of the launch.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void sync_block_event_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32);
  LocalTensor<int32_t> local = buffer.Get<int32_t>();
  GlobalTensor<int32_t> words;
  words.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y));
  IBSet(words, local, 1, 0);  // expect: block-event
}
