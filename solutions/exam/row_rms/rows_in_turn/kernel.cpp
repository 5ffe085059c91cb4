// Each piece of a row is reduced, and the pieces' sums are added up as numbers of the scalar
// unit. Rows go round: neighbours belong to different blocks, and each result goes out alone.
#include "kernel_operator.h"
#include "row_rms_tiling.h"

using namespace AscendC;

constexpr uint32_t kPiece = 8192;

class KernelRowRms {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t length) {
    rows_ = rows;
    length_ = length;
    x_.SetGlobalBuffer((__gm__ half*)x, static_cast<uint64_t>(rows) * length);
    y_.SetGlobalBuffer((__gm__ half*)y, rows);
    pipe_.InitBuffer(in_, 2, kPiece * sizeof(half));
    pipe_.InitBuffer(out_, 1, 32);
    pipe_.InitBuffer(floats_, kPiece * sizeof(float));
    pipe_.InitBuffer(work_, kPiece / 64 * sizeof(float));
    pipe_.InitBuffer(sum_, 32);
  }

  __aicore__ inline void Process() {
    for (uint32_t row = GetBlockIdx(); row < rows_; row += GetBlockNum()) Row(row);
  }

 private:
  __aicore__ inline void Row(uint32_t row) {
    const uint64_t begin = static_cast<uint64_t>(row) * length_;
    float sum = 0.0f;
    for (uint32_t at = 0; at < length_; at += kPiece) {
      sum += Squares(begin + at, length_ - at < kPiece ? length_ - at : kPiece);
    }
    LocalTensor<float> mean = sum_.Get<float>();
    Wait<HardEvent::S_V>();
    Duplicate(mean, sum / static_cast<float>(length_), 8);
    Sqrt(mean, mean, 8);
    LocalTensor<half> y = out_.AllocTensor<half>();
    Cast(y, mean, RoundMode::CAST_RINT, 8);
    out_.EnQue(y);
    y = out_.DeQue<half>();
    DataCopyPad(y_[row], y, DataCopyExtParams{1, sizeof(half), 0, 0, 0});
    out_.FreeTensor(y);
  }

  __aicore__ inline float Squares(uint64_t at, uint32_t count) {
    LocalTensor<half> x = in_.AllocTensor<half>();
    const uint32_t bytes = count * sizeof(half);
    DataCopyPad(x, x_[at], DataCopyExtParams{1, bytes, 0, 0, 0},
                DataCopyPadExtParams<half>{false, 0, 0, 0});
    in_.EnQue(x);
    x = in_.DeQue<half>();
    LocalTensor<float> wide = floats_.Get<float>();
    LocalTensor<float> sum = sum_.Get<float>();
    Cast(wide, x, RoundMode::CAST_NONE, count);
    in_.FreeTensor(x);
    Mul(wide, wide, wide, count);
    ReduceSum(sum, wide, work_.Get<float>(), count);
    Wait<HardEvent::V_S>();
    return sum.GetValue(0);
  }

  template <HardEvent event>
  __aicore__ inline void Wait() {
    const event_t id = static_cast<event_t>(pipe_.FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> floats_, work_, sum_;
  GlobalTensor<half> x_, y_;
  uint32_t rows_, length_;
};

extern "C" __global__ __aicore__ void row_rms(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                              GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowRmsTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowRmsTilingData, tilingData, tiling);
  (void)workspace;
  KernelRowRms op;
  op.Init(x, y, tilingData.rows, tilingData.length);
  op.Process();
}
