// The event that a block waits for is set by another one.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void sync_block_wait_deadlock_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  GlobalTensor<int32_t> words;
  words.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y));
  if (GetBlockIdx() == 0) InitGlobalMemory(words, 512, 0);
  SyncAll();
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32);
  LocalTensor<int32_t> local = buffer.Get<int32_t>();
  if (GetBlockIdx() == 1) IBSet(words, local, 0, 0);
  if (GetBlockIdx() == 1) return;
  IBWait(words, local, 0, 0);
}
