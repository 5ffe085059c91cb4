// An output tensor goes through its queue before it is copied out.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_output_not_enqueued_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 2> queue;
  pipe.InitBuffer(queue, 2, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> first = queue.AllocTensor<float>();
  Duplicate(first, 2.0f, 64);
  queue.EnQue(first);
  LocalTensor<float> next = queue.AllocTensor<float>();
  LocalTensor<float> done = queue.DeQue<float>();
  Duplicate(next, 3.0f, 64);  // the other access
  DataCopy(yGm, done, 64);
  queue.FreeTensor(done);
  queue.EnQue(next);
  done = queue.DeQue<float>();
  DataCopy(yGm[64], done, 64);
  queue.FreeTensor(done);
}
