// Two copies, two flags: the instruction waits for the flag of the other copy.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_other_flag_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> first, second, sums;
  pipe.InitBuffer(first, 256);
  pipe.InitBuffer(second, 256);
  pipe.InitBuffer(sums, 256);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = first.Get<float>(), b = second.Get<float>(), c = sums.Get<float>();
  DataCopy(a, xGm, 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  DataCopy(b, xGm[64], 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID1);  // the cause
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(c, b, 1.0f, 64);  // expect: race-read-after-write
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
}
