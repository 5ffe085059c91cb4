// A TBuf has one buffer: InitBuffer takes its length only.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_buffer_form_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1, 1024);  // expect: init-buffer-form
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 256);
}
