// Two halves of a buffer, of which the second begins too early.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_halves_overlap_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> inBuffer, outBuffer;
  pipe.InitBuffer(inBuffer, 1024);
  pipe.InitBuffer(outBuffer, 1024);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> first = inBuffer.Get<float>(), out = outBuffer.Get<float>();
  LocalTensor<float> second = first[128 / 2];
  DataCopy(first, xGm, 128);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Muls(out, first, 2.0f, 128);  // the other access
  SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
  DataCopy(second, xGm[128], 128);  // expect: race-write-after-read
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Muls(out[128], second, 2.0f, 128);
  WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
}
