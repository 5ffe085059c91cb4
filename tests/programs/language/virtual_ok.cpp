// A call through a table of functions: the device has none.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_virtual_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  struct Scale {
    __aicore__ float Of(float v) const { return 2 * v; }
  };
  Duplicate(t, Scale().Of(1.0f), 64);
}
