// One EnQue allows one DeQue: the second one means the other queue.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_taken_already_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> xQueue, yQueue;
  TQue<TPosition::VECOUT, 1> zQueue;
  pipe.InitBuffer(xQueue, 1, 256);
  pipe.InitBuffer(yQueue, 1, 256);
  pipe.InitBuffer(zQueue, 1, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = xQueue.AllocTensor<float>(), b = yQueue.AllocTensor<float>();
  DataCopy(a, xGm, 64);
  DataCopy(b, xGm[64], 64);
  xQueue.EnQue(a);
  yQueue.EnQue(b);
  a = xQueue.DeQue<float>();  // the cause
  b = xQueue.DeQue<float>();  // expect: queue-empty
  LocalTensor<float> z = zQueue.AllocTensor<float>();
  Add(z, a, b, 64);
  zQueue.EnQue(z);
  xQueue.FreeTensor(a);
  yQueue.FreeTensor(b);
  z = zQueue.DeQue<float>();
  DataCopy(yGm, z, 64);
  zQueue.FreeTensor(z);
}
