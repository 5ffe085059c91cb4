// One instruction has at most 255 repeats.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_repeats_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  WholeReduceSum(t, t, 8, 256, 0, 1, 0);  // expect: repeat-range
}
