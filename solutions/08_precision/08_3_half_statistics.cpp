// 08.3 InstanceNorm of half numbers: y = (x - mean) * rstd * gamma + beta, with rstd =
// 1 / sqrt(variance + eps), for each row.
//
// x and y hold `rows` rows of `length` half numbers; gamma, beta, mean and rstd hold
// one float for each row. The kernel writes mean and rstd for the backward pass. A row
// has at most kLongest elements and is one tile.
#include "kernel_operator.h"

constexpr uint32_t kLongest = 2048;  // elements of a row

class InstanceNorm {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma,
                              GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                              uint32_t rows, uint32_t length, float eps) {
    pipe_ = pipe;
    rows_ = rows;
    length_ = length;
    eps_ = eps;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x),
                         static_cast<uint64_t>(rows) * length);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y),
                         static_cast<uint64_t>(rows) * length);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma), rows);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(beta), rows);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), rows);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), rows);
    pipe_->InitBuffer(xQueue_, 1, kLongest * sizeof(half));
    pipe_->InitBuffer(yQueue_, 1, kLongest * sizeof(half));
    pipe_->InitBuffer(wideBuf_, kLongest * sizeof(float));
    pipe_->InitBuffer(squareBuf_, kLongest * sizeof(float));
    pipe_->InitBuffer(workBuf_, kLongest * sizeof(float));
    pipe_->InitBuffer(sumBuf_, 32);
    pipe_->InitBuffer(statBuf_, 64);
    wide_ = wideBuf_.Get<float>();
    square_ = squareBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t row = static_cast<uint32_t>(AscendC::GetBlockIdx()); row < rows_;
         row += cores) {
      CopyIn(row);
      Normalise(row);
      CopyOut(row);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t row) {
    AscendC::LocalTensor<half> x = xQueue_.AllocTensor<half>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(length_ * sizeof(half)), 0,
                                    0, 0};
    AscendC::DataCopyPadExtParams<half> pad{false, 0, 0, static_cast<half>(0.0f)};
    AscendC::DataCopyPad(x, xGm_[static_cast<uint64_t>(row) * length_], part, pad);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Normalise(uint32_t row) {
    AscendC::LocalTensor<half> x = xQueue_.DeQue<half>();
    AscendC::LocalTensor<half> y = yQueue_.AllocTensor<half>();
    const int32_t n = static_cast<int32_t>(length_);
    const float count = static_cast<float>(length_);
    AscendC::Cast(wide_, x, AscendC::RoundMode::CAST_NONE, length_);
    const float mean = Reduce(wide_) / count;
    AscendC::Adds(wide_, wide_, -mean, n);
    AscendC::Mul(square_, wide_, wide_, n);
    const float variance = Reduce(square_) / count;
    const float rstd = ReciprocalRoot(variance + eps_);
    AscendC::Muls(wide_, wide_, rstd * gammaGm_.GetValue(row), n);
    AscendC::Adds(wide_, wide_, betaGm_.GetValue(row), n);
    AscendC::Cast(y, wide_, AscendC::RoundMode::CAST_RINT, length_);
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
    Write(row, mean, rstd);
  }

  __aicore__ inline void CopyOut(uint32_t row) {
    AscendC::LocalTensor<half> y = yQueue_.DeQue<half>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(length_ * sizeof(half)), 0,
                                    0, 0};
    AscendC::DataCopyPad(yGm_[static_cast<uint64_t>(row) * length_], y, part);
    yQueue_.FreeTensor(y);
  }

  // The sum of a row of floats, as a number of the scalar unit.
  __aicore__ inline float Reduce(const AscendC::LocalTensor<float>& values) {
    AscendC::LocalTensor<float> sum = sumBuf_.Get<float>();
    AscendC::ReduceSum(sum, values, workBuf_.Get<float>(),
                       static_cast<int32_t>(length_));
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
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> squareBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> statBuf_;
  AscendC::LocalTensor<float> wide_;    // room for a row of floats
  AscendC::LocalTensor<float> square_;  // and for another one
  AscendC::GlobalTensor<half> xGm_;
  AscendC::GlobalTensor<half> yGm_;
  AscendC::GlobalTensor<float> gammaGm_;
  AscendC::GlobalTensor<float> betaGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
  float eps_ = 0.0f;
};

extern "C" __global__ __aicore__ void instance_norm(GM_ADDR x, GM_ADDR gamma,
                                                    GM_ADDR beta, GM_ADDR y,
                                                    GM_ADDR mean, GM_ADDR rstd,
                                                    uint32_t rows, uint32_t length,
                                                    float eps) {
  AscendC::TPipe pipe;
  InstanceNorm op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, rows, length, eps);
  op.Process();
}
