// 04.1 Rows with gaps: copy them in with one instruction, and out with another one.
//
// x holds `rows` rows of `length` floats. Each row begins `pitch` floats after the
// start of the previous one; the gap between two rows holds other data. y = factor * x,
// with its rows one after the other, without gaps.
#include "kernel_operator.h"

constexpr uint32_t kTile = 1024;  // elements of a buffer; a row has no more

class ScaleRows {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t rows,
                              uint32_t length, uint32_t pitch, float factor) {
    rows_ = rows;
    length_ = length;
    pitch_ = pitch;
    factor_ = factor;
    place_ = (length + 7) / 8 * 8;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x),
                         static_cast<uint64_t>(rows - 1) * pitch + length);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y),
                         static_cast<uint64_t>(rows) * length);
    pipe->InitBuffer(inQueue_, 1, kTile * sizeof(float));
    pipe->InitBuffer(outQueue_, 1, kTile * sizeof(float));
  }

  // A tile is as many rows as fit the buffer, each at a place of whole 32-byte blocks.
  // The cores take turns.
  __aicore__ inline void Process() {
    const uint32_t most = kTile / place_;
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t first = static_cast<uint32_t>(AscendC::GetBlockIdx()) * most;
         first < rows_; first += cores * most) {
      const uint32_t count = rows_ - first < most ? rows_ - first : most;
      CopyIn(first, count);
      Compute(count);
      CopyOut(first, count);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t first, uint32_t count) {
    AscendC::LocalTensor<float> in = inQueue_.AllocTensor<float>();
    // YOUR TURN: one DataCopyPad copies in the rows first, ..., first + count - 1 of x.
    // Row first begins at element first * pitch_. In the Unified Buffer each row gets a
    // place of place_ elements, one place after the other.
    (void)first;
    (void)count;
    inQueue_.EnQue(in);
  }

  // All places of the tile at once, including the padding after each row, which is not
  // copied out.
  __aicore__ inline void Compute(uint32_t count) {
    AscendC::LocalTensor<float> in = inQueue_.DeQue<float>();
    AscendC::LocalTensor<float> out = outQueue_.AllocTensor<float>();
    AscendC::Muls(out, in, factor_, static_cast<int32_t>(count * place_));
    outQueue_.EnQue(out);
    inQueue_.FreeTensor(in);
  }

  __aicore__ inline void CopyOut(uint32_t first, uint32_t count) {
    AscendC::LocalTensor<float> out = outQueue_.DeQue<float>();
    // YOUR TURN: one DataCopyPad copies the same rows to y, where row first begins at
    // element first * length_.
    (void)first;
    (void)count;
    outQueue_.FreeTensor(out);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
  uint32_t pitch_ = 0;
  uint32_t place_ = 0;  // elements that a row occupies in the Unified Buffer
  float factor_ = 0.0f;
};

extern "C" __global__ __aicore__ void scale_rows(GM_ADDR x, GM_ADDR y, uint32_t rows,
                                                 uint32_t length, uint32_t pitch,
                                                 float factor) {
  AscendC::TPipe pipe;
  ScaleRows op;
  op.Init(&pipe, x, y, rows, length, pitch, factor);
  op.Process();
}
