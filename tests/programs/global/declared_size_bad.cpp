// The length given to SetGlobalBuffer is a promise.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_declared_size_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 48);
  DataCopy(t, g, 64);  // expect: gm-beyond-declared-size
}
