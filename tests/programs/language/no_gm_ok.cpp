// A pointer says which memory it points to.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_no_gm_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  __gm__ float* const out = reinterpret_cast<__gm__ float*>(y);
  GlobalTensor<float> whole;
  whole.SetGlobalBuffer(out);
  Duplicate(t, 1.0f, 64);
  PipeBarrier<PIPE_ALL>();
  DataCopy(whole, t, 64);
}
