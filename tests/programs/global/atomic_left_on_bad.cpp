// Additions that are still on when the kernel ends.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_atomic_left_on_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> row;
  pipe.InitBuffer(row, 1, 256);
  GlobalTensor<float> source, target;
  source.SetGlobalBuffer((__gm__ float*)x);
  target.SetGlobalBuffer((__gm__ float*)y);
  LocalTensor<float> t = row.AllocTensor<float>();
  DataCopy(t, source, 64);
  row.EnQue(t);
  t = row.DeQue<float>();
  SetAtomicAdd<float>();  // expect: atomic-left-on
  DataCopy(target, t, 64);
  row.FreeTensor(t);
  PipeBarrier<PIPE_ALL>();
}
