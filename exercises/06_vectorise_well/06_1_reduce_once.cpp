// 06.1 The mean of the squares of each row, with one reduction per row.
//
// x holds `rows` rows of `length` floats, one row after the other. y gets one float per
// row, the mean of its squares, as RMSNorm needs it. A row comes in tiles of kTile
// elements, and the last tile may be shorter.
#include "kernel_operator.h"

constexpr uint32_t kTile = 256;  // elements of a tile

class MeanSquare {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t rows,
                              uint32_t length) {
    pipe_ = pipe;
    rows_ = rows;
    length_ = length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x),
                         static_cast<uint64_t>(rows) * length);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), rows);
    pipe_->InitBuffer(xQueue_, 2, kTile * sizeof(float));
    pipe_->InitBuffer(accBuf_, kTile * sizeof(float));
    pipe_->InitBuffer(workBuf_, kTile * sizeof(float));
    pipe_->InitBuffer(sumBuf_, 32);
    pipe_->InitBuffer(outBuf_, 32);
    acc_ = accBuf_.Get<float>();
    work_ = workBuf_.Get<float>();
    sum_ = sumBuf_.Get<float>();
    out_ = outBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t row = static_cast<uint32_t>(AscendC::GetBlockIdx()); row < rows_;
         row += cores)
      Write(row, SumOfSquares(row) / static_cast<float>(length_));
  }

 private:
  // YOUR TURN: this is right, but it reduces each tile, and the scalar unit waits for
  // each. Reduce once per row: use acc_.
  __aicore__ inline float SumOfSquares(uint32_t row) {
    float total = 0.0f;
    for (uint32_t at = 0; at < length_; at += kTile) {
      const uint32_t count = length_ - at < kTile ? length_ - at : kTile;
      const int32_t n = static_cast<int32_t>(count);
      CopyIn(row, at, count);
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      AscendC::Mul(x, x, x, n);
      AscendC::ReduceSum(sum_, x, work_, n);
      Sync<AscendC::HardEvent::V_S>();
      total += sum_.GetValue(0);
      xQueue_.FreeTensor(x);
    }
    return total;
  }

  __aicore__ inline void CopyIn(uint32_t row, uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                    0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(x, xGm_[static_cast<uint64_t>(row) * length_ + at], part, pad);
    xQueue_.EnQue(x);
  }

  // One float: DataCopyPad writes exactly four bytes, so neighbouring cores do not
  // disturb each other.
  __aicore__ inline void Write(uint32_t row, float value) {
    out_.SetValue(0, value);
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[row], out_, one);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  // The second pipe of the event waits until the first has finished everything sent to
  // it so far.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> accBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> outBuf_;
  AscendC::LocalTensor<float> acc_;   // kTile floats: the accumulator
  AscendC::LocalTensor<float> work_;  // kTile floats: work space of ReduceSum
  AscendC::LocalTensor<float> sum_;
  AscendC::LocalTensor<float> out_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
};

extern "C" __global__ __aicore__ void mean_square(GM_ADDR x, GM_ADDR y, uint32_t rows,
                                                  uint32_t length) {
  AscendC::TPipe pipe;
  MeanSquare op;
  op.Init(&pipe, x, y, rows, length);
  op.Process();
}
