// TopK keeps no more elements than a row has.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_topk_shape_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> v = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<int32_t> i = buffer.GetWithOffset<int32_t>(64, 256);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 512);
  LocalTensor<int32_t> none;
  LocalTensor<bool> finish;
  Duplicate(b, 1.0f, 64);
  TopkTiling tiling;
  TopK<float>(v, i, b, none, finish, 31, tiling, TopKInfo{2, 32, 31});
}
