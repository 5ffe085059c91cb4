// One block reads what another one stored: after the event that the other sets behind the store.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_event_of_a_block_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, localBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(localBuf, 32);
  LocalTensor<float> a = aBuf.Get<float>();
  LocalTensor<int32_t> local = localBuf.Get<int32_t>();
  GlobalTensor<float> yGm;
  GlobalTensor<int32_t> words;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  words.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y) + 512);
  if (GetBlockIdx() == 0) {
    Duplicate(a, 2.0f, 64);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(yGm, a, 64);  // the other access
    IBSet(words, local, 0, 0);
  } else {
    PipeBarrier<PIPE_ALL>();
    DataCopy(a, yGm, 64);  // expect: race-blocks
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(yGm[64], a, 64);
  }
}
