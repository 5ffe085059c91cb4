// y = (x - mean) * rstd * gamma + beta for each row: GroupNorm with one channel a group. Seven ways that are equal on paper.
//
// The caller chooses the way by a number: the right one, and six that lose digits at one place each. x and y are half, bfloat16 or
// float; gamma and beta have one float for each row. A row has at most kLongest elements and is one tile.
// No step of a ladder: the timeline is of no interest here, only the numbers are.
#include "kernel_operator.h"

constexpr uint32_t kLongest = 4096;  // elements of a row

enum Way : uint32_t {
  kFloatInside = 0,  // float between the two casts, mean first, then the squares of x - mean
  kSumsNarrow = 1,   // sums and squares in T; half only, for bfloat16 there is no such instruction
  kOnePass = 2,      // variance = mean of the squares - square of the mean, in float
  kStatsNarrow = 3,  // mean and rstd rounded to T before they are used
  kRoundOften = 4,   // every intermediate result rounded to T
  kRawRsqrt = 5,     // Rsqrt in place of Sqrt and a division
  kTruncate = 6,     // the last Cast cuts the digits off
};

template <class T>
constexpr bool kIsHalf = false;
template <>
constexpr bool kIsHalf<half> = true;

template <class T>
class RowNorm {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, uint32_t rows,
                              uint32_t length, float eps, uint32_t way) {
    pipe_ = pipe;
    rows_ = rows;
    length_ = length;
    eps_ = eps;
    way_ = way;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), static_cast<uint64_t>(rows) * length);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), static_cast<uint64_t>(rows) * length);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma), rows);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(beta), rows);
    pipe_->InitBuffer(xQueue_, 1, kLongest * sizeof(T));
    pipe_->InitBuffer(yQueue_, 1, kLongest * sizeof(T));
    pipe_->InitBuffer(wideBuf_, kLongest * sizeof(float));
    pipe_->InitBuffer(squareBuf_, kLongest * sizeof(float));
    pipe_->InitBuffer(workBuf_, kLongest * sizeof(float));
    pipe_->InitBuffer(narrowBuf_, kLongest * sizeof(T));
    pipe_->InitBuffer(sumBuf_, 32);
    wide_ = wideBuf_.Get<float>();
    square_ = squareBuf_.Get<float>();
    narrow_ = narrowBuf_.Get<T>();
  }

  __aicore__ inline void Process() {
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t row = static_cast<uint32_t>(AscendC::GetBlockIdx()); row < rows_; row += cores) {
      CopyIn(row);
      Normalise(row);
      CopyOut(row);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t row) {
    AscendC::LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(length_ * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, T()};
    AscendC::DataCopyPad(x, xGm_[static_cast<uint64_t>(row) * length_], part, pad);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Normalise(uint32_t row) {
    AscendC::LocalTensor<T> x = xQueue_.template DeQue<T>();
    AscendC::LocalTensor<T> y = yQueue_.template AllocTensor<T>();
    const int32_t n = static_cast<int32_t>(length_);
    const float count = static_cast<float>(length_);
    Widen(wide_, x, length_);
    float mean = 0.0f;
    float variance = 0.0f;
    if (way_ == kSumsNarrow) {
      NarrowStatistics(x, &mean, &variance);
    } else if (way_ == kOnePass) {
      mean = Sum(wide_) / count;
      AscendC::Mul(square_, wide_, wide_, n);
      variance = Sum(square_) / count - mean * mean;
    } else {
      mean = Sum(wide_) / count;
      AscendC::Adds(square_, wide_, -mean, n);
      AscendC::Mul(square_, square_, square_, n);
      variance = Sum(square_) / count;
    }
    float rstd = ReciprocalRoot((variance > 0.0f ? variance : 0.0f) + eps_);
    if (way_ == kStatsNarrow) {
      mean = Rounded(mean);
      rstd = Rounded(rstd);
    }
    AscendC::Adds(wide_, wide_, -mean, n);
    RoundIfOften();
    AscendC::Muls(wide_, wide_, rstd, n);
    RoundIfOften();
    AscendC::Muls(wide_, wide_, gammaGm_.GetValue(row), n);
    RoundIfOften();
    AscendC::Adds(wide_, wide_, betaGm_.GetValue(row), n);
    Narrow(y, wide_, length_, way_ == kTruncate);
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(uint32_t row) {
    AscendC::LocalTensor<T> y = yQueue_.template DeQue<T>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(length_ * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[static_cast<uint64_t>(row) * length_], y, part);
    yQueue_.FreeTensor(y);
  }

  // Half all the way: the difference, its square, and both sums. For the other types the caller does not ask for it.
  __aicore__ inline void NarrowStatistics(const AscendC::LocalTensor<T>& x, float* mean, float* variance) {
    if constexpr (kIsHalf<T>) {
      const int32_t n = static_cast<int32_t>(length_);
      AscendC::LocalTensor<half> sum = sumBuf_.Get<half>();
      AscendC::LocalTensor<half> work = workBuf_.Get<half>();
      AscendC::ReduceSum(sum, x, work, n);
      Sync<AscendC::HardEvent::V_S>();
      *mean = Rounded(static_cast<float>(sum.GetValue(0)) / static_cast<float>(length_));
      AscendC::Adds(narrow_, x, static_cast<half>(-*mean), n);
      AscendC::Mul(narrow_, narrow_, narrow_, n);
      AscendC::ReduceSum(sum, narrow_, work, n);
      Sync<AscendC::HardEvent::V_S>();
      *variance = Rounded(static_cast<float>(sum.GetValue(0)) / static_cast<float>(length_));
    }
  }

  __aicore__ inline float Sum(const AscendC::LocalTensor<float>& values) {
    AscendC::LocalTensor<float> sum = sumBuf_.Get<float>();
    AscendC::ReduceSum(sum, values, workBuf_.Get<float>(), static_cast<int32_t>(length_));
    Sync<AscendC::HardEvent::V_S>();
    return sum.GetValue(0);
  }

  // 1 / sqrt(value), by the vector unit: the scalar unit has no documented root.
  __aicore__ inline float ReciprocalRoot(float value) {
    AscendC::LocalTensor<float> root = sumBuf_.Get<float>();
    root.SetValue(0, value);
    Sync<AscendC::HardEvent::S_V>();
    if (way_ == kRawRsqrt) {
      AscendC::Rsqrt(root, root, 1);
    } else {
      AscendC::Sqrt(root, root, 1);
    }
    Sync<AscendC::HardEvent::V_S>();
    return way_ == kRawRsqrt ? root.GetValue(0) : 1.0f / root.GetValue(0);
  }

  // One number of the scalar unit, rounded to T and back.
  __aicore__ inline float Rounded(float value) {
    AscendC::LocalTensor<float> one = sumBuf_.Get<float>();
    one.SetValue(0, value);
    Sync<AscendC::HardEvent::S_V>();
    Narrow(narrow_, one, 1, false);
    Widen(one, narrow_, 1);
    Sync<AscendC::HardEvent::V_S>();
    return one.GetValue(0);
  }

  __aicore__ inline void RoundIfOften() {
    if (way_ != kRoundOften) return;
    Narrow(narrow_, wide_, length_, false);
    Widen(wide_, narrow_, length_);
  }

  __aicore__ inline void Widen(const AscendC::LocalTensor<float>& to, const AscendC::LocalTensor<T>& from, uint32_t n) {
    if constexpr (sizeof(T) == sizeof(float)) {
      AscendC::Muls(to, from, 1.0f, static_cast<int32_t>(n));
    } else {
      AscendC::Cast(to, from, AscendC::RoundMode::CAST_NONE, n);
    }
  }

  __aicore__ inline void Narrow(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<float>& from, uint32_t n,
                                bool cut) {
    if constexpr (sizeof(T) == sizeof(float)) {
      AscendC::Muls(to, from, 1.0f, static_cast<int32_t>(n));
    } else if (cut) {
      AscendC::Cast(to, from, AscendC::RoundMode::CAST_TRUNC, n);
    } else {
      AscendC::Cast(to, from, AscendC::RoundMode::CAST_RINT, n);
    }
  }

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
  AscendC::TBuf<AscendC::TPosition::VECCALC> narrowBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::LocalTensor<float> wide_;    // the row as floats
  AscendC::LocalTensor<float> square_;  // its squares
  AscendC::LocalTensor<T> narrow_;      // what is rounded on the way
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<float> gammaGm_;
  AscendC::GlobalTensor<float> betaGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
  uint32_t way_ = 0;
  float eps_ = 0.0f;
};

// What x and y are. One library for all three, so that the kernel is compiled once.
enum Type : uint32_t { kHalf = 0, kBfloat16 = 1, kFloat = 2 };

template <class T>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, uint32_t rows, uint32_t length, float eps,
                           uint32_t way) {
  AscendC::TPipe pipe;
  RowNorm<T> op;
  op.Init(&pipe, x, gamma, beta, y, rows, length, eps, way);
  op.Process();
}

extern "C" __global__ __aicore__ void row_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, uint32_t rows,
                                               uint32_t length, float eps, uint32_t way, uint32_t type) {
  if (type == kHalf) {
    Run<half>(x, gamma, beta, y, rows, length, eps, way);
  } else if (type == kBfloat16) {
    Run<bfloat16_t>(x, gamma, beta, y, rows, length, eps, way);
  } else {
    Run<float>(x, gamma, beta, y, rows, length, eps, way);
  }
}
