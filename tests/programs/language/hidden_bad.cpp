// A declaration with a type hides the member.
#include "kernel_operator.h"

using namespace AscendC;

class Hidden_bad {
 public:
  __aicore__ inline void Init(uint32_t rows) {
    uint32_t rows_bad = rows;  // expect: language-hidden
  }
  __aicore__ inline void Fill(const LocalTensor<float>& row) { Duplicate(row, 1.0f, rows_bad * 8); }

 private:
  uint32_t rows_bad = 0;
};

extern "C" __global__ __aicore__ void language_hidden_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  Hidden_bad op;
  op.Init(8);
  op.Fill(buffer.Get<float>());
}
