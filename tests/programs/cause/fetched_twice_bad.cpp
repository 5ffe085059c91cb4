// FetchEventID reserves no id: the next call returns it again.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_fetched_twice_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 512);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = buffer.Get<float>();
  const TEventID first = pipe.FetchEventID<HardEvent::MTE2_V>();
  const TEventID second = pipe.FetchEventID<HardEvent::MTE2_V>();
  DataCopy(a, xGm, 64);
  SetFlag<HardEvent::MTE2_V>(first);
  DataCopy(a[64], xGm[64], 64);
  SetFlag<HardEvent::MTE2_V>(second);  // expect: flag-set-twice
  WaitFlag<HardEvent::MTE2_V>(first);
  WaitFlag<HardEvent::MTE2_V>(second);
  Add(a, a, a[64], 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 64);
}
