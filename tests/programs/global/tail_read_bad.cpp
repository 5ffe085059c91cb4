// A copy rounded up to 32 bytes may end behind an array: every allocation has some bytes there.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_tail_read_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 1024);
  DataCopy(t, g[968], 64);  // expect: gm-behind-end
}
