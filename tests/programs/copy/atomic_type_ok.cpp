// An atomic copy moves elements of the type that SetAtomicAdd named.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_atomic_type_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y, 64);
  LocalTensor<float> ones = buffer.Get<float>();
  Duplicate(ones, 1.0f, 64);
  SetAtomicAdd<float>();
  PipeBarrier<PIPE_ALL>();
  DataCopy(out, ones, 64);
  SetAtomicNone();
}
