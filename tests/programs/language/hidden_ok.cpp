// A declaration with a type hides the member.
#include "kernel_operator.h"

using namespace AscendC;

class Hidden_ok {
 public:
  __aicore__ inline void Init(uint32_t rows) {
    rows_ok = rows;
  }
  __aicore__ inline void Fill(const LocalTensor<float>& row) { Duplicate(row, 1.0f, rows_ok * 8); }

 private:
  uint32_t rows_ok = 0;
};

extern "C" __global__ __aicore__ void language_hidden_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  Hidden_ok op;
  op.Init(8);
  op.Fill(buffer.Get<float>());
}
