// InitOutput stages its value in free local memory.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_fill_no_scratch_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y, 64);
  pipe.InitBuffer(buffer, 192 * 1024 - 128);
  InitOutput<float>(out, 64, 1.0f);  // expect: fill-no-scratch
}
