// SetValue of a global tensor is not on the list of what the compiler orders: the copy waits for it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_store_of_a_scalar_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  yGm.SetValue(0, 2.0f);  // the other access
  DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(yGm);
  SetFlag<HardEvent::S_MTE2>(EVENT_ID0), WaitFlag<HardEvent::S_MTE2>(EVENT_ID0);
  DataCopy(a, yGm, 64);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(yGm[64], a, 64);
}
