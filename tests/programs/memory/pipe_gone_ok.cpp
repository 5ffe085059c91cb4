// A tensor does not outlive the TPipe of its buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_pipe_gone_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  PipeBarrier<PIPE_ALL>();
  Adds(a, a, 1.0f, 64);
}
