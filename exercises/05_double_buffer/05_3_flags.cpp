// 05.3 Repair the flags. This kernel has no queues, so it sets its flags itself. One
// flag is missing, and one is in the wrong place. On the twin the numbers are right, but
// its race checker stops the kernel; on a device they may be wrong.
//
// y = 2 * max(x, 0) for n floats, in tiles of kTile elements; the last tile may be
// shorter. Change Process only. Four calls of Sync are enough, and more are refused. Use
// no PipeBarrier: MTE2 may fetch the next tile while MTE3 copies this one out, and a
// barrier would prevent that.
#include "kernel_operator.h"

constexpr uint32_t kTile = 2048;  // elements

class TwicePositive {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t n) {
    pipe_ = pipe;
    n_ = n;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), n);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), n);
    pipe_->InitBuffer(xBuf_, kTile * sizeof(float));
    pipe_->InitBuffer(yBuf_, kTile * sizeof(float));
    x_ = xBuf_.Get<float>();
    y_ = yBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    for (uint32_t at = 0; at < n_; at += kTile) {
      const uint32_t count = n_ - at < kTile ? n_ - at : kTile;
      const AscendC::DataCopyExtParams row{
          1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
      AscendC::DataCopyPad(x_, xGm_[at], row, pad);
      Sync<AscendC::HardEvent::MTE2_V>();
      Sync<AscendC::HardEvent::MTE3_V>();
      AscendC::Maxs(y_, x_, 0.0f, static_cast<int32_t>(count));
      Sync<AscendC::HardEvent::V_MTE3>();
      AscendC::Muls(y_, y_, 2.0f, static_cast<int32_t>(count));
      AscendC::DataCopyPad(yGm_[at], y_, row);
    }
  }

 private:
  // The second pipe of the event waits until the first has finished everything sent to
  // it so far.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECIN> xBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> yBuf_;
  AscendC::LocalTensor<float> x_;
  AscendC::LocalTensor<float> y_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  uint32_t n_ = 0;
};

extern "C" __global__ __aicore__ void twice_positive(GM_ADDR x, GM_ADDR y, uint32_t n) {
  AscendC::TPipe pipe;
  TwicePositive op;
  op.Init(&pipe, x, y, n);
  op.Process();
}
