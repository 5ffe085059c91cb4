// Two copies into one tensor: the first one was for nothing.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_overwritten_unread_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  TBuf<TPosition::VECCALC> cBuffer;
  pipe.InitBuffer(cBuffer, 1024);
  TBuf<TPosition::VECCALC> dBuffer;
  pipe.InitBuffer(dBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  LocalTensor<float> c = cBuffer.Get<float>();
  LocalTensor<float> d = dBuffer.Get<float>();
  GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  DataCopy(a, in, 64);
  DataCopy(b, in[64], 64);
  PipeBarrier<PIPE_MTE2>();
  DataCopy(a, in[128], 64);  // expect: ub-overwritten-unread
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Add(d, a, b, 64);
}
