// All blocks add their sums to one float of the workspace, atomically. It has to be zero
// before the first of them, and complete before anyone reads it: SyncAll twice.
#include "kernel_operator.h"
#include "clip_norm_tiling.h"

using namespace AscendC;

constexpr uint32_t kFloatsOfSum = 8;

class KernelClipNorm {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR sum, uint32_t length,
                              uint32_t perBlock, uint32_t tile, float limit) {
    const uint32_t first = GetBlockIdx() * perBlock;
    mine_ =
        first >= length ? 0 : (length - first < perBlock ? length - first : perBlock);
    tile_ = tile;
    limit_ = limit;
    x_.SetGlobalBuffer((__gm__ half*)x + first, mine_);
    y_.SetGlobalBuffer((__gm__ half*)y + first, mine_);
    sum_.SetGlobalBuffer((__gm__ float*)sum, 1);
    pipe_.InitBuffer(xQueue_, 2, tile * sizeof(half));
    pipe_.InitBuffer(yQueue_, 2, tile * sizeof(half));
    pipe_.InitBuffer(wideBuffer_, tile * sizeof(float));
    pipe_.InitBuffer(lanesBuffer_, tile * sizeof(float));
    pipe_.InitBuffer(sumBuffer_, kFloatsOfSum * sizeof(float));
    pipe_.InitBuffer(workBuffer_, 1024 * sizeof(float));
  }

  __aicore__ inline void Process() {
    Clear();
    AddSum();
    SyncAll();
    const float factor = Factor();
    for (uint32_t at = 0; at < mine_; at += tile_) {
      const uint32_t now = mine_ - at < tile_ ? mine_ - at : tile_;
      LocalTensor<float> wide = Read(at, now);
      Muls(wide, wide, factor, now);
      LocalTensor<half> y = yQueue_.AllocTensor<half>();
      Cast(y, wide, RoundMode::CAST_RINT, now);
      yQueue_.EnQue(y);
      y = yQueue_.DeQue<half>();
      DataCopyPad(y_[at], y, Row(now * sizeof(half)));
      yQueue_.FreeTensor(y);
    }
  }

 private:
  __aicore__ inline DataCopyExtParams Row(uint32_t bytes) {
    return {1, bytes, 0, 0, 0};
  }

  __aicore__ inline LocalTensor<float> Read(uint32_t at, uint32_t now) {
    LocalTensor<half> x = xQueue_.AllocTensor<half>();
    DataCopyPad(x, x_[at], Row(now * sizeof(half)),
                DataCopyPadExtParams<half>{false, 0, 0, 0});
    xQueue_.EnQue(x);
    x = xQueue_.DeQue<half>();
    LocalTensor<float> wide = wideBuffer_.Get<float>();
    Cast(wide, x, RoundMode::CAST_NONE, now);
    xQueue_.FreeTensor(x);
    return wide;
  }

  __aicore__ inline void AddSum() {
    const uint32_t used = mine_ < tile_ ? mine_ : tile_;
    LocalTensor<float> lanes = lanesBuffer_.Get<float>();
    LocalTensor<float> sum = sumBuffer_.Get<float>();
    Duplicate(sum, 0.0f, kFloatsOfSum);
    if (used > 0) {
      Duplicate(lanes, 0.0f, used);
      for (uint32_t at = 0; at < mine_; at += tile_) {
        const uint32_t now = mine_ - at < tile_ ? mine_ - at : tile_;
        LocalTensor<float> wide = Read(at, now);
        Mul(wide, wide, wide, now);
        Add(lanes, lanes, wide, now);
      }
      ReduceSum(sum, lanes, workBuffer_.Get<float>(), used);
    }
    Wait<HardEvent::V_MTE3>();
    SetAtomicAdd<float>();
    DataCopyPad(sum_, sum, Row(sizeof(float)));
    SetAtomicNone();
    Wait<HardEvent::MTE3_V>();
  }

  // Nobody clears a workspace: block 0 does, before anyone adds.
  __aicore__ inline void Clear() {
    if (GetBlockIdx() == 0) {
      LocalTensor<float> zero = sumBuffer_.Get<float>();
      Duplicate(zero, 0.0f, kFloatsOfSum);
      Wait<HardEvent::V_MTE3>();
      DataCopyPad(sum_, zero, Row(sizeof(float)));
      Wait<HardEvent::MTE3_V>();
    }
    SyncAll();
  }

  // min(1, limit / norm), from the one sum that all blocks have added to.
  __aicore__ inline float Factor() {
    LocalTensor<float> sum = sumBuffer_.Get<float>();
    DataCopyPad(sum, sum_, Row(sizeof(float)),
                DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
    Wait<HardEvent::MTE2_V>();
    Sqrt(sum, sum, 1);
    Wait<HardEvent::V_S>();
    const float norm = sum.GetValue(0);
    return norm > limit_ ? limit_ / norm : 1.0f;
  }

  template <HardEvent event>
  __aicore__ inline void Wait() {
    const event_t id = static_cast<event_t>(pipe_.FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> xQueue_;
  TQue<QuePosition::VECOUT, 2> yQueue_;
  TBuf<QuePosition::VECCALC> wideBuffer_, lanesBuffer_, sumBuffer_, workBuffer_;
  GlobalTensor<half> x_, y_;
  GlobalTensor<float> sum_;
  uint32_t mine_, tile_;
  float limit_;
};

extern "C" __global__ __aicore__ void clip_norm(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  REGISTER_TILING_DEFAULT(ClipNormTilingData);
  GET_TILING_DATA_WITH_STRUCT(ClipNormTilingData, tilingData, tiling);
  KernelClipNorm op;
  op.Init(x, y, GetUserWorkspace(workspace), tilingData.length, tilingData.perBlock,
          tilingData.tile, tilingData.limit);
  op.Process();
}
