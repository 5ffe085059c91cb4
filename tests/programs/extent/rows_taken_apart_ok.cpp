// Results that follow each other in the Unified Buffer are stored as one row.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_rows_taken_apart_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> rows;
  TQue<TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(rows, 4096);
  pipe.InitBuffer(queue, 1, 512);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = rows.Get<float>(), sums = queue.AllocTensor<float>();
  Duplicate(a, 0.5f, 1024);
  PipeBarrier<PIPE_V>();
  WholeReduceSum<float>(sums, a, 64, 16, 1, 1, 8);
  queue.EnQue(sums);
  sums = queue.DeQue<float>();
  DataCopyPad(out, sums, {1, 64, 0, 0, 0});
  queue.FreeTensor(sums);
}
