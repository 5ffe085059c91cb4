// And counts units of 16 bits, whatever the tensor's type is: of floats it takes half as many bytes as one may think.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_logic_words_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> a = buffer.Get<float>();
  LocalTensor<uint16_t> bits = buffer.Get<uint16_t>();
  Duplicate(a, 1.0f, 64);
  And(a, a, a, 64);  // expect: logic-in-words
}
