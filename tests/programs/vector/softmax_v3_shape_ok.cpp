// SoftmaxFlashV3 takes rows of at least 512 elements.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_softmax_v3_shape_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<half> a = buffer.GetWithOffset<half>(4096, 0);
  LocalTensor<half> b = buffer.GetWithOffset<half>(4096, 8192);
  LocalTensor<half> e = buffer.GetWithOffset<half>(128, 16384);
  LocalTensor<float> m = buffer.GetWithOffset<float>(64, 17408);
  LocalTensor<float> s = buffer.GetWithOffset<float>(64, 17664);
  LocalTensor<float> t = buffer.GetWithOffset<float>(64, 17920);
  Duplicate(b, half(1.0f), 4096);
  SoftMaxTiling tiling;
  const SoftMaxParams good{8, 512, 8, 512, 1, 8, 0.9375f}, bad{8, 448, 8, 448, 1, 8, 0.9375f};
  SoftmaxFlashV3<half, float>(a, t, s, m, b, e, t, s, m, tiling, good);
}
