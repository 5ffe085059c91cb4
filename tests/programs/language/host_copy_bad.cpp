// A number comes from global memory, which functions of the host do not reach.
#include <cstring>

#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_host_copy_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  float value = 0.0f;
  memcpy(&value, x, sizeof(value));  // expect: language-host-copy
  GlobalTensor<float> whole;
  whole.SetGlobalBuffer((__gm__ float*)y);
  Duplicate(t, value, 64);
  PipeBarrier<PIPE_ALL>();
  DataCopy(whole, t, 64);
}
