// Sort32 makes pairs of 8 bytes, a value and its index: twice as many as the values.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_sorted_pairs_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> places;
  pipe.InitBuffer(in, 1, 64 * sizeof(float));
  pipe.InitBuffer(out, 1, 64 * sizeof(float));
  pipe.InitBuffer(places, 64 * sizeof(uint32_t));
  GlobalTensor<float> source, target;
  source.SetGlobalBuffer((__gm__ float*)x);
  target.SetGlobalBuffer((__gm__ float*)y);
  LocalTensor<float> scores = in.AllocTensor<float>();
  DataCopy(scores, source, 64);
  in.EnQue(scores);
  scores = in.DeQue<float>();
  LocalTensor<int32_t> index = places.Get<int32_t>();
  CreateVecIndex(index, 0, 64);
  LocalTensor<float> sorted = out.AllocTensor<float>();
  Sort32(sorted, scores, index.ReinterpretCast<uint32_t>(), 2);  // expect: ub-out-of-bounds
  out.EnQue(sorted);
  sorted = out.DeQue<float>();
  DataCopy(target, sorted, 64);
  out.FreeTensor(sorted);
  in.FreeTensor(scores);
}
