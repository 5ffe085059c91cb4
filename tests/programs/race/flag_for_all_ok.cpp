// What a core stored is there for itself too when the flag for all cores, set behind the store, has come.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_flag_for_all_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 2.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 64);  // the other access
  CrossCoreSetFlag<0, PIPE_MTE3>(1);
  CrossCoreWaitFlag(1);
  DataCopy(b, yGm, 64);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(yGm[64], b, 64);
}
