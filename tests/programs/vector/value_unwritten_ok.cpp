// A factor that is read past the data cache from the output, where nothing is yet, in place of the input.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_value_unwritten_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 4096);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  __gm__ uint32_t* in = reinterpret_cast<__gm__ uint32_t*>(x);
  LocalTensor<float> t = queue.AllocTensor<float>();
  Duplicate(t, 1.0f, 1024);
  const uint32_t bits = ReadGmByPassDCache(in + 3);
  Muls(t, t, *reinterpret_cast<const float*>(&bits), 1024);
  queue.EnQue(t);
  t = queue.DeQue<float>();
  DataCopy(out, t, 1024);
  queue.FreeTensor(t);
}
