// A pointer to an element that the tensor does not have points into the buffer behind it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_pointer_index_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>();
  __ubuf__ float* at = a.GetPhyAddr(40);
  *at = 1.0f;
}
