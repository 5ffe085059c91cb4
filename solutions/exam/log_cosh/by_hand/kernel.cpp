// |x| - ln 2 + ln(1 + exp(-2|x|)), with buffers and flags instead of queues.
#include "kernel_operator.h"
#include "log_cosh_tiling.h"

using namespace AscendC;

constexpr float kLn2 = 0.69314718056f;

class KernelLogCosh {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, uint32_t perBlock,
                              uint32_t tile) {
    begin_ = GetBlockIdx() * perBlock;
    end_ = begin_ + perBlock < length ? begin_ + perBlock : length;
    tile_ = tile;
    x_.SetGlobalBuffer((__gm__ half*)x);
    y_.SetGlobalBuffer((__gm__ half*)y);
    pipe_.InitBuffer(inBuffer_, tile * sizeof(half));
    pipe_.InitBuffer(outBuffer_, tile * sizeof(half));
    pipe_.InitBuffer(wideBuffer_, 2 * tile * sizeof(float));
  }

  __aicore__ inline void Process() {
    LocalTensor<half> in = inBuffer_.Get<half>(), out = outBuffer_.Get<half>();
    LocalTensor<float> wide = wideBuffer_.Get<float>();
    LocalTensor<float> other = wide[tile_];
    const event_t filled =
        static_cast<event_t>(pipe_.AllocEventID<HardEvent::MTE2_V>());
    const event_t read = static_cast<event_t>(pipe_.AllocEventID<HardEvent::V_MTE2>());
    const event_t made = static_cast<event_t>(pipe_.AllocEventID<HardEvent::V_MTE3>());
    const event_t sent = static_cast<event_t>(pipe_.AllocEventID<HardEvent::MTE3_V>());
    SetFlag<HardEvent::V_MTE2>(read);
    SetFlag<HardEvent::MTE3_V>(sent);
    for (uint32_t at = begin_; at < end_; at += tile_) {
      const uint32_t count = end_ - at < tile_ ? end_ - at : tile_;
      const DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0,
                                  0};
      WaitFlag<HardEvent::V_MTE2>(read);
      DataCopyPad(in, x_[at], row, DataCopyPadExtParams<half>{false, 0, 0, 0});
      SetFlag<HardEvent::MTE2_V>(filled);
      WaitFlag<HardEvent::MTE2_V>(filled);
      Cast(wide, in, RoundMode::CAST_NONE, count);
      SetFlag<HardEvent::V_MTE2>(read);
      LogCoshOf(wide, other, count);
      WaitFlag<HardEvent::MTE3_V>(sent);
      Cast(out, wide, RoundMode::CAST_RINT, count);
      SetFlag<HardEvent::V_MTE3>(made);
      WaitFlag<HardEvent::V_MTE3>(made);
      DataCopyPad(y_[at], out, row);
      SetFlag<HardEvent::MTE3_V>(sent);
    }
    WaitFlag<HardEvent::V_MTE2>(read);
    WaitFlag<HardEvent::MTE3_V>(sent);
    pipe_.ReleaseEventID<HardEvent::MTE2_V>(filled);
    pipe_.ReleaseEventID<HardEvent::V_MTE2>(read);
    pipe_.ReleaseEventID<HardEvent::V_MTE3>(made);
    pipe_.ReleaseEventID<HardEvent::MTE3_V>(sent);
  }

 private:
  __aicore__ inline void LogCoshOf(const LocalTensor<float>& wide,
                                   const LocalTensor<float>& other, uint32_t count) {
    Abs(wide, wide, count);
    PipeBarrier<PIPE_V>();
    Muls(other, wide, -2.0f, count);
    PipeBarrier<PIPE_V>();
    Exp(other, other, count);
    Adds(wide, wide, -kLn2, count);
    PipeBarrier<PIPE_V>();
    Adds(other, other, 1.0f, count);
    PipeBarrier<PIPE_V>();
    Ln(other, other, count);
    PipeBarrier<PIPE_V>();
    Add(wide, wide, other, count);
    PipeBarrier<PIPE_V>();
  }

  TPipe pipe_;
  TBuf<QuePosition::VECCALC> inBuffer_, outBuffer_, wideBuffer_;
  GlobalTensor<half> x_, y_;
  uint32_t begin_, end_, tile_;
};

extern "C" __global__ __aicore__ void log_cosh(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(LogCoshTilingData);
  GET_TILING_DATA_WITH_STRUCT(LogCoshTilingData, tilingData, tiling);
  (void)workspace;
  KernelLogCosh op;
  op.Init(x, y, tilingData.length, tilingData.perBlock, tilingData.tile);
  op.Process();
}
