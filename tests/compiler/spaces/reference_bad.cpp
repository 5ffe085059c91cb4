// A number behind a __gm__ pointer, and an instruction's scalar.
#include "kernel_operator.h"

struct Numbers {
  float scale;
  uint32_t length;
};

extern "C" __global__ __aicore__ void reference_bad(GM_ADDR x, GM_ADDR y) {
  const __gm__ Numbers* numbers = reinterpret_cast<const __gm__ Numbers*>(x);
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  AscendC::LocalTensor<float> t = buffer.Get<float>();
  AscendC::Duplicate(t, 1.0f, 64);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::Muls(t, t, numbers->scale, 64);  // expect: language-space-reference
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y, 64);
  AscendC::DataCopy(out, t, 64);
}
