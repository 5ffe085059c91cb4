// An atomic copy moves the type that was set.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_atomic_type_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(t, 1.0f, 64);
  PipeBarrier<PIPE_ALL>();
  SetAtomicAdd<int32_t>();
  DataCopy(out, t, 64);  // expect: atomic-type
  SetAtomicNone();
}
