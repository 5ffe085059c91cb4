// 03.1, solved: every core takes groups / cores, and the first groups % cores cores
// take one more.
//
// A kernel runs on GetBlockNum() cores at once, and GetBlockIdx() is the number of the
// core that is running it, from 0. Divide `groups` groups: core 0 takes the first ones,
// core 1 the next ones, and so on. If the division leaves a remainder, the first cores
// take one more group each. To show the result, each core writes its own number to
// owner[group] for each of its groups.
//
// 7 groups on 3 cores: owner = 0 0 0 1 1 2 2.
#include "kernel_operator.h"

class CoreOffsets {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR owner, uint32_t groups) {
    pipe_ = pipe;
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    core_ = static_cast<uint32_t>(AscendC::GetBlockIdx());

    const uint32_t each = groups / cores;
    const uint32_t extra = groups % cores;
    // Of the cores before this one, as many as `extra`, or all of them, took one more.
    first_ = core_ * each + (core_ < extra ? core_ : extra);
    last_ = first_ + each + (core_ < extra ? 1 : 0);

    ownerGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(owner), groups);
    pipe_->InitBuffer(buffer_, 32);
    tile_ = buffer_.Get<int32_t>();
  }

  __aicore__ inline void Process() {
    for (uint32_t group = first_; group < last_; ++group) Write(group);
  }

 private:
  // One int32: DataCopyPad writes exactly four bytes, so neighbouring cores do not
  // disturb each other.
  __aicore__ inline void Write(uint32_t group) {
    tile_.SetValue(0, static_cast<int32_t>(core_));
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams one{1, sizeof(int32_t), 0, 0, 0};
    AscendC::DataCopyPad(ownerGm_[group], tile_, one);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  // The second pipe of the event waits until the first has finished.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECOUT> buffer_;
  AscendC::LocalTensor<int32_t> tile_;
  AscendC::GlobalTensor<int32_t> ownerGm_;
  uint32_t core_ = 0;
  uint32_t first_ = 0;
  uint32_t last_ = 0;
};

extern "C" __global__ __aicore__ void core_offsets(GM_ADDR owner, uint32_t groups) {
  AscendC::TPipe pipe;
  CoreOffsets op;
  op.Init(&pipe, owner, groups);
  op.Process();
}
