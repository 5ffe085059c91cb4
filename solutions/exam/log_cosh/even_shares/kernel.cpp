// max(x, -x) + ln((1 + exp(-2 max(x, -x))) / 2): the half is inside of the logarithm. Shares
// differ by one unit of 32 bytes at most, and the first blocks have the larger ones.
#include "kernel_operator.h"
#include "log_cosh_tiling.h"

using namespace AscendC;

constexpr uint32_t kTile = 4096;
constexpr uint64_t kUnit = 16;

class KernelLogCosh {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint64_t length) {
    const uint64_t units = (length + kUnit - 1) / kUnit, blocks = GetBlockNum();
    const uint64_t least = units / blocks, more = units % blocks, me = GetBlockIdx();
    first_ = (me * least + (me < more ? me : more)) * kUnit;
    end_ = first_ + (least + (me < more ? 1 : 0)) * kUnit;
    if (end_ > length) end_ = length;
    x_.SetGlobalBuffer((__gm__ half*)x, length);
    y_.SetGlobalBuffer((__gm__ half*)y, length);
    pipe_.InitBuffer(in_, 1, kTile * sizeof(half));
    pipe_.InitBuffer(out_, 1, kTile * sizeof(half));
    pipe_.InitBuffer(a_, kTile * sizeof(float));
    pipe_.InitBuffer(b_, kTile * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint64_t at = first_; at < end_; at += kTile) {
      Tile(at, end_ - at < kTile ? static_cast<uint32_t>(end_ - at) : kTile);
    }
  }

 private:
  __aicore__ inline void Tile(uint64_t at, uint32_t count) {
    const uint16_t bytes = static_cast<uint16_t>(count * sizeof(half));
    LocalTensor<half> in = in_.AllocTensor<half>();
    DataCopyPad(in, x_[at], DataCopyParams{1, bytes, 0, 0},
                DataCopyPadParams{false, 0, 0, 0});
    in_.EnQue(in);
    in = in_.DeQue<half>();
    LocalTensor<float> a = a_.Get<float>(), b = b_.Get<float>();
    Cast(a, in, RoundMode::CAST_NONE, count);
    in_.FreeTensor(in);
    Muls(b, a, -1.0f, count);
    Max(a, a, b, count);
    Muls(b, a, -2.0f, count);
    Exp(b, b, count);
    Muls(b, b, 0.5f, count);
    Adds(b, b, 0.5f, count);
    Ln(b, b, count);
    Add(a, a, b, count);
    LocalTensor<half> out = out_.AllocTensor<half>();
    Cast(out, a, RoundMode::CAST_RINT, count);
    out_.EnQue(out);
    out = out_.DeQue<half>();
    DataCopyPad(y_[at], out, DataCopyParams{1, bytes, 0, 0});
    out_.FreeTensor(out);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> in_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> a_, b_;
  GlobalTensor<half> x_, y_;
  uint64_t first_ = 0, end_ = 0;
};

extern "C" __global__ __aicore__ void log_cosh(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(LogCoshTilingData);
  GET_TILING_DATA_WITH_STRUCT(LogCoshTilingData, tilingData, tiling);
  (void)workspace;
  KernelLogCosh op;
  op.Init(x, y, tilingData.length);
  op.Process();
}
