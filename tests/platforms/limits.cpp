// Three ways not to end well: a wrong copy, a loop without end, a pointer to nowhere.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void fault(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECIN> buf;
  pipe.InitBuffer(buf, 64 * sizeof(float));
  LocalTensor<float> local = buf.Get<float>();
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, 64);
  DataCopy(local, xGm[32], 64);
}

extern "C" __global__ __aicore__ void endless(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, 64);
  for (uint32_t turn = 0; xGm.GetValue(1) > 0.0f; ++turn) {
  }
}

extern "C" __global__ __aicore__ void crash(GM_ADDR x, GM_ADDR y) {
  *reinterpret_cast<volatile uint32_t*>(4096) = 1;
}
