// 05.1 Two buffers. This kernel is right, but its pipes take turns: MTE2 fetches a
// tile, V adds up its squares, MTE2 fetches the next one. Let MTE2 fetch the next tile
// while V works on this one. The check reads the modelled timeline.
//
// sums[r] = the sum of x[r][i] * x[r][i] over the `length` floats of row r. A row is
// longer than a tile; its last tile may be shorter. Each block processes every
// GetBlockNum()-th row. Change InitBuffer in Init, and RowSum. Every element must still
// be copied in exactly once.
#include "kernel_operator.h"

constexpr uint32_t kTile = 4096;  // elements: 16 KiB

class RowSquares {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR sums,
                              uint32_t rows, uint32_t length) {
    pipe_ = pipe;
    rows_ = rows;
    length_ = length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x),
                         static_cast<uint64_t>(rows) * length);
    sumsGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(sums), rows);
    pipe_->InitBuffer(xQueue_, 1, kTile * sizeof(float));
    pipe_->InitBuffer(workBuf_, kTile * sizeof(float));
    pipe_->InitBuffer(sumBuf_, 32);
    pipe_->InitBuffer(outBuf_, 32);
    work_ = workBuf_.Get<float>();
    sum_ = sumBuf_.Get<float>();
    out_ = outBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    for (uint32_t row = AscendC::GetBlockIdx(); row < rows_;
         row += AscendC::GetBlockNum())
      Write(row, RowSum(row));
  }

 private:
  __aicore__ inline float RowSum(uint32_t row) {
    float total = 0.0f;
    for (uint32_t at = 0; at < length_; at += kTile) {
      CopyIn(row, at, Count(at));
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      total += SumOfSquares(x, Count(at));
      xQueue_.FreeTensor(x);
    }
    return total;
  }

  // `count` elements of the row from element `at` on.
  __aicore__ inline void CopyIn(uint32_t row, uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams one{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                   0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(x, xGm_[static_cast<uint64_t>(row) * length_ + at], one, pad);
    xQueue_.EnQue(x);
  }

  // The scalar unit waits for V here, because it needs the sum as a number.
  __aicore__ inline float SumOfSquares(const AscendC::LocalTensor<float>& x,
                                       uint32_t count) {
    AscendC::Mul(x, x, x, static_cast<int32_t>(count));
    AscendC::ReduceSum(sum_, x, work_, static_cast<int32_t>(count));
    Sync<AscendC::HardEvent::V_S>();
    return sum_.GetValue(0);
  }

  __aicore__ inline void Write(uint32_t row, float total) {
    out_.SetValue(0, total);
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    AscendC::DataCopyPad(sumsGm_[row], out_, one);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  // Elements of the tile that begins at `at`.
  __aicore__ inline uint32_t Count(uint32_t at) const {
    return length_ - at < kTile ? length_ - at : kTile;
  }

  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> outBuf_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> sum_;
  AscendC::LocalTensor<float> out_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> sumsGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
};

extern "C" __global__ __aicore__ void row_squares(GM_ADDR x, GM_ADDR sums,
                                                  uint32_t rows, uint32_t length) {
  AscendC::TPipe pipe;
  RowSquares op;
  op.Init(&pipe, x, sums, rows, length);
  op.Process();
}
