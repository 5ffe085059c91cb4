// Padding has at most 32 bytes on each side.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_pad_too_wide_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 1024);
  const DataCopyExtParams row{1, 8, 0, 0, 0};
  const DataCopyPadExtParams<float> padding{true, 8, 0, 0.0f};
  DataCopyPad(t, g, row, padding);
}
