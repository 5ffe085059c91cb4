// No core waits for another: each reads all of x for the norm, which the L2 cache makes
// bearable, and writes its own part. Slower than meeting, and right.
#include "kernel_operator.h"
#include "clip_norm_tiling.h"

using namespace AscendC;

constexpr uint32_t kTile = 8192;

class KernelClipNorm {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint64_t length, uint64_t perBlock,
                              float limit) {
    length_ = length;
    limit_ = limit;
    begin_ = GetBlockIdx() * perBlock;
    end_ = begin_ + perBlock < length ? begin_ + perBlock : length;
    x_.SetGlobalBuffer((__gm__ half*)x, length);
    y_.SetGlobalBuffer((__gm__ half*)y, length);
    pipe_.InitBuffer(in_, 2, kTile * sizeof(half));
    pipe_.InitBuffer(out_, 2, kTile * sizeof(half));
    pipe_.InitBuffer(wide_, kTile * sizeof(float));
    pipe_.InitBuffer(lanes_, kTile * sizeof(float));
    pipe_.InitBuffer(work_, 1024 * sizeof(float));
  }

  __aicore__ inline void Process() {
    LocalTensor<float> lanes = lanes_.Get<float>(), wide = wide_.Get<float>();
    Duplicate(lanes, 0.0f, kTile);
    for (uint64_t at = 0; at < length_; at += kTile) {
      const uint32_t count = length_ - at < kTile ? length_ - at : kTile;
      Read(at, count);
      MulAddDst(lanes, wide, wide, count);
    }
    ReduceSum(lanes, lanes, work_.Get<float>(), kTile);
    Sqrt(lanes, lanes, 1);
    const event_t made = static_cast<event_t>(pipe_.FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(made);
    WaitFlag<HardEvent::V_S>(made);
    const float norm = lanes.GetValue(0);
    const float factor = norm <= limit_ ? 1.0f : limit_ / norm;
    for (uint64_t at = begin_; at < end_; at += kTile) {
      const uint32_t count = end_ - at < kTile ? end_ - at : kTile;
      Read(at, count);
      LocalTensor<half> out = out_.AllocTensor<half>();
      Muls(wide, wide, factor, count);
      Cast(out, wide, RoundMode::CAST_RINT, count);
      out_.EnQue(out);
      out = out_.DeQue<half>();
      const uint32_t bytes = count * sizeof(half);
      DataCopyPad(y_[at], out, DataCopyExtParams{1, bytes, 0, 0, 0});
      out_.FreeTensor(out);
    }
  }

 private:
  __aicore__ inline void Read(uint64_t at, uint32_t count) {
    LocalTensor<half> in = in_.AllocTensor<half>();
    const uint32_t bytes = count * sizeof(half);
    DataCopyPad(in, x_[at], DataCopyExtParams{1, bytes, 0, 0, 0},
                DataCopyPadExtParams<half>{false, 0, 0, 0});
    in_.EnQue(in);
    in = in_.DeQue<half>();
    Cast(wide_.Get<float>(), in, RoundMode::CAST_NONE, count);
    in_.FreeTensor(in);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 2> out_;
  TBuf<QuePosition::VECCALC> wide_, lanes_, work_;
  GlobalTensor<half> x_, y_;
  uint64_t length_, begin_, end_;
  float limit_;
};

extern "C" __global__ __aicore__ void clip_norm(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ClipNormTilingData);
  GET_TILING_DATA_WITH_STRUCT(ClipNormTilingData, tilingData, tiling);
  (void)workspace;
  KernelClipNorm op;
  op.Init(x, y, tilingData.length, tilingData.perBlock, tilingData.limit);
  op.Process();
}
