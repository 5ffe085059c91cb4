// SetAtomicAdd holds until SetAtomicNone: a plain copy behind it adds too.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_atomic_on_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 1024);
  PipeBarrier<PIPE_ALL>();
  DataCopy(yGm, a, 512);
  PipeBarrier<PIPE_ALL>();
  SetAtomicAdd<float>();  // the cause
  DataCopy(yGm, a, 512);
  PipeBarrier<PIPE_MTE3>();
  DataCopy(yGm[512], a[512], 512);  // expect: gm-read-before-write
  SetAtomicNone();
}
