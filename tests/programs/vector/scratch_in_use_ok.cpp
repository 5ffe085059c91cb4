// Select keeps scratch data from byte 184 KiB on.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_scratch_in_use_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> bitsBuffer;
  TBuf<TPosition::VECCALC> dataBuffer;
  pipe.InitBuffer(bitsBuffer, 256);
  pipe.InitBuffer(dataBuffer, 180 * 1024);
  LocalTensor<uint8_t> bits = bitsBuffer.Get<uint8_t>();
  LocalTensor<float> a = dataBuffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  CompareScalar(bits, a, 1.0f, CMPMODE::EQ, 64);
  Select(a, bits, a, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
}
