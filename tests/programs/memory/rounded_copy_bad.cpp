// A copy of whole blocks fills the rest of the last one.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_rounded_copy_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  LocalTensor<float> t = buffer.Get<float>(5);
  GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 1024);
  DataCopy(t, g, 16);  // expect: ub-out-of-bounds
}
