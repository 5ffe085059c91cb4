// A store adds only between SetAtomicAdd and SetAtomicNone: the second one too.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_atomic_off_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = queue.AllocTensor<float>();
  Duplicate(a, GetBlockIdx() + 2.0f, 64);
  queue.EnQue(a);
  a = queue.DeQue<float>();
  SetAtomicAdd<float>();
  DataCopy(out, a, 64);
  SetAtomicNone();
  PipeBarrier<PIPE_MTE3>();
  DataCopy(out[64], a, 64);  // expect: race-blocks
  SetAtomicNone();
  queue.FreeTensor(a);
}
