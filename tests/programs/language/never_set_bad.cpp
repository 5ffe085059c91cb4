// A sum that begins with whatever was in memory.
#include "kernel_operator.h"

using namespace AscendC;

class LanguageNeverSet {
 public:
  __aicore__ inline void Process() {
    pipe.InitBuffer(buffer, 256);
    LocalTensor<float> t = buffer.Get<float>();
    Duplicate(t, 1.0f, 64);
    for (uint32_t i = 0; i < 4; ++i) Add(t.GetValue(i));
    Duplicate(t, total / 4, 64);
  }

 private:
  __aicore__ inline void Add(float value) { total += value; }  // expect: language-never-set

  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  float total;
};

extern "C" __global__ __aicore__ void language_never_set_bad(GM_ADDR x, GM_ADDR y) {
  LanguageNeverSet kernel;
  kernel.Process();
}
