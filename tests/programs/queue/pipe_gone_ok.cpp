// The queue outlives the TPipe of the function that initialised it.
#include "kernel_operator.h"

using namespace AscendC;

__aicore__ inline void prepare_pipe_gone_ok(TQue<TPosition::VECIN, 1>& queue) {
  TPipe& pipe = *GetTPipePtr();
  pipe.InitBuffer(queue, 1, 256);
}

extern "C" __global__ __aicore__ void queue_pipe_gone_ok(GM_ADDR x, GM_ADDR y) {
  TPipe own;
  TQue<TPosition::VECIN, 1> queue;
  prepare_pipe_gone_ok(queue);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = queue.AllocTensor<float>();
  DataCopy(a, xGm, 64);
  queue.EnQue(a);
  a = queue.DeQue<float>();
  queue.FreeTensor(a);
}
