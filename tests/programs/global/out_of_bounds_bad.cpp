// A copy ends inside the argument, 1024 floats, or in the 32 bytes that every allocation has behind it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_out_of_bounds_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 1024);
  DataCopy(t, g[969], 64);  // expect: gm-out-of-bounds
}
