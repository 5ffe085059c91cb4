// Lane by lane the squares of a row's pieces are added up in float; one ReduceSum a row.
// Results wait in the Unified Buffer, and go out together.
#include "kernel_operator.h"
#include "row_rms_tiling.h"

using namespace AscendC;

constexpr uint32_t kResults = 1024;  // rows that wait
constexpr uint32_t kWork = 1024;     // floats for ReduceSum

class KernelRowRms {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t length,
                              uint32_t rowsPerBlock, uint32_t chunk) {
    first_ = GetBlockIdx() * rowsPerBlock;
    end_ = first_ + rowsPerBlock < rows ? first_ + rowsPerBlock : rows;
    length_ = length;
    chunk_ = chunk;
    x_.SetGlobalBuffer((__gm__ half*)x);
    y_.SetGlobalBuffer((__gm__ half*)y);
    pipe_.InitBuffer(xQueue_, 2, chunk * sizeof(half));
    pipe_.InitBuffer(yQueue_, 1, kResults * sizeof(half));
    pipe_.InitBuffer(wideBuffer_, chunk * sizeof(float));
    pipe_.InitBuffer(sumBuffer_, chunk * sizeof(float));
    pipe_.InitBuffer(workBuffer_, kWork * sizeof(float));
    pipe_.InitBuffer(oneBuffer_, 32);
    pipe_.InitBuffer(resultBuffer_, kResults * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint32_t row = first_; row < end_; row += kResults) {
      const uint32_t count = end_ - row < kResults ? end_ - row : kResults;
      for (uint32_t i = 0; i < count; ++i) Row(row + i, i);
      CopyOut(row, count);
    }
  }

 private:
  __aicore__ inline void Row(uint32_t row, uint32_t place) {
    LocalTensor<float> sums = sumBuffer_.Get<float>();
    const uint32_t lanes = length_ < chunk_ ? length_ : chunk_;
    Duplicate(sums, 0.0f, lanes);
    for (uint32_t at = 0; at < length_; at += chunk_) {
      const uint32_t count = length_ - at < chunk_ ? length_ - at : chunk_;
      CopyIn(static_cast<uint64_t>(row) * length_ + at, count);
      AddSquares(sums, count);
    }
    LocalTensor<float> one = oneBuffer_.Get<float>();
    ReduceSum(one, sums, workBuffer_.Get<float>(), lanes);
    const event_t added = static_cast<event_t>(pipe_.FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(added);
    WaitFlag<HardEvent::V_S>(added);
    resultBuffer_.Get<float>().SetValue(place, one.GetValue(0) / length_);
    const event_t taken = static_cast<event_t>(pipe_.FetchEventID(HardEvent::S_V));
    SetFlag<HardEvent::S_V>(taken);
    WaitFlag<HardEvent::S_V>(taken);
  }

  __aicore__ inline void CopyIn(uint64_t at, uint32_t count) {
    LocalTensor<half> x = xQueue_.AllocTensor<half>();
    const DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0,
                                0};
    DataCopyPad(x, x_[at], row, DataCopyPadExtParams<half>{false, 0, 0, 0});
    xQueue_.EnQue(x);
  }

  __aicore__ inline void AddSquares(const LocalTensor<float>& sums, uint32_t count) {
    LocalTensor<half> x = xQueue_.DeQue<half>();
    LocalTensor<float> wide = wideBuffer_.Get<float>();
    Cast(wide, x, RoundMode::CAST_NONE, count);
    xQueue_.FreeTensor(x);
    Mul(wide, wide, wide, count);
    Add(sums, sums, wide, count);
  }

  __aicore__ inline void CopyOut(uint32_t row, uint32_t count) {
    LocalTensor<float> results = resultBuffer_.Get<float>();
    LocalTensor<half> y = yQueue_.AllocTensor<half>();
    Sqrt(results, results, count);
    Cast(y, results, RoundMode::CAST_RINT, count);
    yQueue_.EnQue(y);
    y = yQueue_.DeQue<half>();
    const DataCopyExtParams all{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0,
                                0};
    DataCopyPad(y_[row], y, all);
    yQueue_.FreeTensor(y);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> xQueue_;
  TQue<QuePosition::VECOUT, 1> yQueue_;
  TBuf<QuePosition::VECCALC> wideBuffer_, sumBuffer_, workBuffer_, oneBuffer_,
      resultBuffer_;
  GlobalTensor<half> x_, y_;
  uint32_t first_, end_, length_, chunk_;
};

extern "C" __global__ __aicore__ void row_rms(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                              GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowRmsTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowRmsTilingData, tilingData, tiling);
  (void)workspace;
  KernelRowRms op;
  op.Init(x, y, tilingData.rows, tilingData.length, tilingData.rowsPerBlock,
          tilingData.chunk);
  op.Process();
}
