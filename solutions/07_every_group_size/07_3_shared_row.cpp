// 07.3 One row on all cores.
//
// x is one row of `length` floats, a multiple of 8, and y gets
// (x - mean) / sqrt(variance + eps). Each core has a share of the row, which stays in
// its local memory from the first copy to the last. There may be more cores than
// shares: then some cores have no elements.
//
// The workspace has a 32-byte block of eight floats for each core: how many elements it
// has, their mean, and the sum of their squared distances from it; the other five are
// not used. The workspace is not cleared before the launch.
#include "kernel_operator.h"

constexpr uint32_t kMost = 4096;  // the most floats of a share
constexpr uint32_t kCores = 48;   // the most cores
constexpr uint32_t kBlock = 8;    // floats of a core's block in the workspace
constexpr float kEps = 1e-5f;

struct Moments {
  float count;
  float mean;
  float squares;  // the sum of (x - mean)^2
};

class SharedRow {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y,
                              GM_ADDR workspace, uint32_t length) {
    pipe_ = pipe;
    core_ = static_cast<uint32_t>(AscendC::GetBlockIdx());
    cores_ = static_cast<uint32_t>(AscendC::GetBlockNum());
    begin_ = length / 8 * core_ / cores_ * 8;
    count_ = length / 8 * (core_ + 1) / cores_ * 8 - begin_;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), length);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), length);
    momentsGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace),
                               cores_ * kBlock);
    pipe_->InitBuffer(xBuf_, kMost * sizeof(float));
    pipe_->InitBuffer(workBuf_, 2 * kMost * sizeof(float));
    pipe_->InitBuffer(tableBuf_, kCores * kBlock * sizeof(float));
    pipe_->InitBuffer(sumBuf_, 32);
    x_ = xBuf_.Get<float>();
    work_ = workBuf_.Get<float>();
    table_ = tableBuf_.Get<float>();
    sum_ = sumBuf_.Get<float>();
    AscendC::Duplicate(table_, 0.0f, kCores * kBlock);  // the five that are not used
    Sync<AscendC::HardEvent::V_S>();
  }

  __aicore__ inline void Process() {
    const Moments own = Measure();
    Publish(own);
    AscendC::SyncAll();
    Normalise(Combine());
  }

 private:
  // Copies in the share of this core, and computes its moments.
  __aicore__ inline Moments Measure() {
    if (count_ == 0) return {0.0f, 0.0f, 0.0f};
    const int32_t n = static_cast<int32_t>(count_);
    AscendC::DataCopy(x_, xGm_[begin_], count_);
    Sync<AscendC::HardEvent::MTE2_V>();
    const float mean = Sum(x_) / static_cast<float>(count_);
    AscendC::Adds(work_, x_, -mean, n);
    AscendC::Mul(work_, work_, work_, n);
    return {static_cast<float>(count_), mean, Sum(work_)};
  }

  // This core's moments, into its block of the workspace.
  __aicore__ inline void Publish(const Moments& own) {
    table_.SetValue(0, own.count);
    table_.SetValue(1, own.mean);
    table_.SetValue(2, own.squares);
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopy(momentsGm_[core_ * kBlock], table_, kBlock);
  }

  // The moments of the whole row: those of all cores, from core 0 on, so that every
  // core gets the same bits.
  __aicore__ inline Moments Combine() {
    AscendC::DataCopy(table_, momentsGm_, cores_ * kBlock);
    Sync<AscendC::HardEvent::MTE2_S>();
    Moments all{0.0f, 0.0f, 0.0f};
    for (uint32_t core = 0; core < cores_; ++core) {
      const float count = table_.GetValue(core * kBlock);
      if (count == 0.0f) continue;
      const float apart = table_.GetValue(core * kBlock + 1) - all.mean;
      const float together = all.count + count;
      all.mean += apart * count / together;
      all.squares += table_.GetValue(core * kBlock + 2) +
                     apart * apart * all.count * count / together;
      all.count = together;
    }
    return all;
  }

  __aicore__ inline void Normalise(const Moments& all) {
    if (count_ == 0) return;
    const int32_t n = static_cast<int32_t>(count_);
    sum_.SetValue(0, all.squares / all.count + kEps);
    Sync<AscendC::HardEvent::S_V>();
    AscendC::Sqrt(sum_, sum_, 1);
    Sync<AscendC::HardEvent::V_S>();
    const float rstd = 1.0f / sum_.GetValue(0);
    AscendC::Adds(x_, x_, -all.mean, n);
    AscendC::Muls(x_, x_, rstd, n);
    Sync<AscendC::HardEvent::V_MTE3>();
    AscendC::DataCopy(yGm_[begin_], x_, count_);
  }

  // The sum of count_ floats, as a number.
  __aicore__ inline float Sum(const AscendC::LocalTensor<float>& values) {
    AscendC::ReduceSum(sum_, values, work_[kMost], static_cast<int32_t>(count_));
    Sync<AscendC::HardEvent::V_S>();
    return sum_.GetValue(0);
  }

  // The second pipe of the event waits until the first has done all it was given so
  // far.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> xBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tableBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::LocalTensor<float> x_;      // kMost floats: the share, until it leaves as y
  AscendC::LocalTensor<float> work_;   // 2 * kMost floats
  AscendC::LocalTensor<float> table_;  // a block for each core
  AscendC::LocalTensor<float> sum_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  AscendC::GlobalTensor<float> momentsGm_;  // the workspace
  uint32_t core_ = 0;
  uint32_t cores_ = 1;
  uint32_t begin_ = 0;  // of this core's share
  uint32_t count_ = 0;
};

extern "C" __global__ __aicore__ void shared_row(GM_ADDR x, GM_ADDR y,
                                                 GM_ADDR workspace, uint32_t length) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  AscendC::TPipe pipe;
  SharedRow op;
  op.Init(&pipe, x, y, workspace, length);
  op.Process();
}
