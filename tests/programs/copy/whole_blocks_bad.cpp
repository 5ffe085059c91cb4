// DataCopy moves whole blocks of 32 bytes; DataCopyPad is for the rest.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_whole_blocks_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 1024);
  DataCopy(t, g, 50);  // expect: copy-not-whole-blocks
}
