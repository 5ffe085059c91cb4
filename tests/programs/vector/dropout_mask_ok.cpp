// A mask of bytes has one for each element.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_dropout_mask_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 512);
  LocalTensor<uint8_t> m = buffer.GetWithOffset<uint8_t>(64, 1024);
  Duplicate(b, 1.0f, 64);
  Duplicate(m.ReinterpretCast<int16_t>(), static_cast<int16_t>(257), 32);
  DropOutShapeInfo bytes, few;
  bytes.firstAxis = few.firstAxis = 1;
  bytes.srcLastAxis = few.srcLastAxis = 64;
  bytes.maskLastAxis = 64;
  few.maskLastAxis = 32;
  DropOut<float, false, 2>(a, b, m, 0.5f, bytes);
}
