// 08.2 Normalise each row: y = (x - mean) / sqrt(variance + eps). The kernel also
// writes mean and rstd, one float for each row.
//
// x and y hold `rows` rows of `length` floats. A row is read in tiles of kTile
// elements, twice: for the sums, and for the result. The mean of a row may be ten
// thousand times its spread.
#include "kernel_operator.h"

constexpr uint32_t kTile = 512;  // elements of a tile

class RowNorm {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, uint32_t rows, uint32_t length, float eps) {
    pipe_ = pipe;
    rows_ = rows;
    length_ = length;
    eps_ = eps;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x),
                         static_cast<uint64_t>(rows) * length);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y),
                         static_cast<uint64_t>(rows) * length);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), rows);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), rows);
    pipe_->InitBuffer(xQueue_, 2, kTile * sizeof(float));
    pipe_->InitBuffer(yQueue_, 2, kTile * sizeof(float));
    pipe_->InitBuffer(sumsBuf_, kTile * sizeof(float));
    pipe_->InitBuffer(squaresBuf_, kTile * sizeof(float));
    pipe_->InitBuffer(workBuf_, kTile * sizeof(float));
    pipe_->InitBuffer(sumBuf_, 32);
    pipe_->InitBuffer(statBuf_, 64);
    sums_ = sumsBuf_.Get<float>();
    squares_ = squaresBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t row = static_cast<uint32_t>(AscendC::GetBlockIdx()); row < rows_;
         row += cores)
      Row(row);
  }

 private:
  // YOUR TURN: this is right while a row lies around 0. Repair it for rows far from 0;
  // x must still be read twice, not three times.
  __aicore__ inline void Row(uint32_t row) {
    const uint32_t lanes = Count(0);
    AscendC::Duplicate(sums_, 0.0f, static_cast<int32_t>(lanes));
    AscendC::Duplicate(squares_, 0.0f, static_cast<int32_t>(lanes));
    for (uint32_t at = 0; at < length_; at += kTile) {
      const int32_t n = static_cast<int32_t>(Count(at));
      CopyIn(row, at);
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      AscendC::Add(sums_, sums_, x, n);
      AscendC::Mul(x, x, x, n);
      AscendC::Add(squares_, squares_, x, n);
      xQueue_.FreeTensor(x);
    }
    const float count = static_cast<float>(length_);
    const float mean = Reduce(sums_, lanes) / count;
    const float variance = Reduce(squares_, lanes) / count - mean * mean;
    const float rstd = ReciprocalRoot((variance > 0.0f ? variance : 0.0f) + eps_);
    for (uint32_t at = 0; at < length_; at += kTile) {
      const int32_t n = static_cast<int32_t>(Count(at));
      CopyIn(row, at);
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
      AscendC::Adds(y, x, -mean, n);
      AscendC::Muls(y, y, rstd, n);
      yQueue_.EnQue(y);
      xQueue_.FreeTensor(x);
      CopyOut(row, at);
    }
    Write(row, mean, rstd);
  }

  __aicore__ inline void CopyIn(uint32_t row, uint32_t at) {
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(Count(at) * sizeof(float)),
                                    0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(x, xGm_[static_cast<uint64_t>(row) * length_ + at], part, pad);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void CopyOut(uint32_t row, uint32_t at) {
    AscendC::LocalTensor<float> y = yQueue_.DeQue<float>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(Count(at) * sizeof(float)),
                                    0, 0, 0};
    AscendC::DataCopyPad(yGm_[static_cast<uint64_t>(row) * length_ + at], y, part);
    yQueue_.FreeTensor(y);
  }

  // The sum of `lanes` floats, as a number of the scalar unit.
  __aicore__ inline float Reduce(const AscendC::LocalTensor<float>& values,
                                 uint32_t lanes) {
    AscendC::LocalTensor<float> sum = sumBuf_.Get<float>();
    AscendC::ReduceSum(sum, values, workBuf_.Get<float>(), static_cast<int32_t>(lanes));
    Sync<AscendC::HardEvent::V_S>();
    return sum.GetValue(0);
  }

  // 1 / sqrt(value), by the vector unit: the scalar unit has no documented root.
  __aicore__ inline float ReciprocalRoot(float value) {
    AscendC::LocalTensor<float> root = sumBuf_.Get<float>();
    root.SetValue(0, value);
    Sync<AscendC::HardEvent::S_V>();
    AscendC::Sqrt(root, root, 1);
    Sync<AscendC::HardEvent::V_S>();
    return 1.0f / root.GetValue(0);
  }

  // One float each: DataCopyPad writes exactly four bytes, so neighbouring cores do not
  // disturb each other.
  __aicore__ inline void Write(uint32_t row, float mean, float rstd) {
    AscendC::LocalTensor<float> meanTile = statBuf_.GetWithOffset<float>(8, 0);
    AscendC::LocalTensor<float> rstdTile = statBuf_.GetWithOffset<float>(8, 32);
    meanTile.SetValue(0, mean);
    rstdTile.SetValue(0, rstd);
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[row], meanTile, one);
    AscendC::DataCopyPad(rstdGm_[row], rstdTile, one);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  // Elements of the tile that begins at `at`.
  __aicore__ inline uint32_t Count(uint32_t at) const {
    return length_ - at < kTile ? length_ - at : kTile;
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
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> squaresBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> statBuf_;
  // kTile floats: one sum for each place of a tile
  AscendC::LocalTensor<float> sums_;
  AscendC::LocalTensor<float> squares_;  // the same for the squares
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
  float eps_ = 0.0f;
};

extern "C" __global__ __aicore__ void row_norm(GM_ADDR x, GM_ADDR y, GM_ADDR mean,
                                               GM_ADDR rstd, uint32_t rows,
                                               uint32_t length, float eps) {
  AscendC::TPipe pipe;
  RowNorm op;
  op.Init(&pipe, x, y, mean, rstd, rows, length, eps);
  op.Process();
}
