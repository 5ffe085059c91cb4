// A reduction needs an element.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_reduce_nothing_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  ReduceSum(t, t, t, 0);  // expect: reduce-count
}
