// A block reads a word again and again until another block has written it.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void sync_poll_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>();
  LocalTensor<float> word = bBuf.Get<float>();
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  if (GetBlockIdx() == 0) {
    do {
      DataCopy(word, yGm, 8);
      SetFlag<HardEvent::MTE2_S>(EVENT_ID0), WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
    } while (word.GetValue(0) != 3.0f);
    DataCopy(a, yGm[64], 64);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(yGm[128], a, 64);
  } else {
    Duplicate(a, 5.0f, 64);
    Duplicate(word, 3.0f, 8);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(yGm[64], a, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(yGm, word, 8);
  }
}
