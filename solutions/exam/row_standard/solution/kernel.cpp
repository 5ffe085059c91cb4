// A row lies in the Unified Buffer as a whole: its mean first, then what is left of each
// element, then the mean of the squares of that.
#include "kernel_operator.h"
#include "row_standard_tiling.h"

using namespace AscendC;

template <typename T>
class KernelRowStandard {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t length,
                              uint32_t rowsPerBlock, float eps) {
    first_ = GetBlockIdx() * rowsPerBlock;
    end_ = first_ + rowsPerBlock < rows ? first_ + rowsPerBlock : rows;
    length_ = length;
    eps_ = eps;
    x_.SetGlobalBuffer((__gm__ T*)x);
    y_.SetGlobalBuffer((__gm__ T*)y);
    const uint32_t padded = (length + 15) / 16 * 16;
    pipe_.InitBuffer(xQueue_, 2, padded * sizeof(T));
    pipe_.InitBuffer(yQueue_, 2, padded * sizeof(T));
    pipe_.InitBuffer(wideBuffer_, padded * sizeof(float));
    pipe_.InitBuffer(squareBuffer_, padded * sizeof(float));
    pipe_.InitBuffer(workBuffer_, 1024 * sizeof(float));
    pipe_.InitBuffer(sumBuffer_, 32);
  }

  __aicore__ inline void Process() {
    for (uint32_t row = first_; row < end_; ++row) {
      const uint64_t at = static_cast<uint64_t>(row) * length_;
      CopyIn(at);
      Compute();
      CopyOut(at);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint64_t at) {
    LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    const DataCopyExtParams row{1, static_cast<uint32_t>(length_ * sizeof(T)), 0, 0, 0};
    DataCopyPad(x, x_[at], row, DataCopyPadExtParams<T>{false, 0, 0, 0});
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute() {
    LocalTensor<T> x = xQueue_.template DeQue<T>();
    LocalTensor<float> wide = wideBuffer_.Get<float>();
    LocalTensor<float> square = squareBuffer_.Get<float>();
    if constexpr (sizeof(T) == 4) {
      Adds(wide, x, 0.0f, length_);
    } else {
      Cast(wide, x, RoundMode::CAST_NONE, length_);
    }
    xQueue_.FreeTensor(x);
    Adds(wide, wide, -Mean(wide), length_);
    Mul(square, wide, wide, length_);
    const float spread = Root(Mean(square) + eps_);
    LocalTensor<T> y = yQueue_.template AllocTensor<T>();
    if constexpr (sizeof(T) == 4) {
      Muls(y, wide, 1.0f / spread, length_);
    } else {
      Muls(wide, wide, 1.0f / spread, length_);
      Cast(y, wide, RoundMode::CAST_RINT, length_);
    }
    yQueue_.EnQue(y);
  }

  __aicore__ inline float Mean(const LocalTensor<float>& values) {
    LocalTensor<float> sum = sumBuffer_.Get<float>();
    ReduceSum(sum, values, workBuffer_.Get<float>(), length_);
    Wait<HardEvent::V_S>();
    const float mean = sum.GetValue(0) / static_cast<float>(length_);
    Wait<HardEvent::S_V>();
    return mean;
  }

  // The scalar unit has no documented square root.
  __aicore__ inline float Root(float value) {
    LocalTensor<float> one = sumBuffer_.Get<float>();
    one.SetValue(0, value);
    Wait<HardEvent::S_V>();
    Sqrt(one, one, 1);
    Wait<HardEvent::V_S>();
    const float root = one.GetValue(0);
    Wait<HardEvent::S_V>();
    return root;
  }

  template <HardEvent event>
  __aicore__ inline void Wait() {
    const event_t id = static_cast<event_t>(pipe_.FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
  }

  __aicore__ inline void CopyOut(uint64_t at) {
    LocalTensor<T> y = yQueue_.template DeQue<T>();
    const DataCopyExtParams row{1, static_cast<uint32_t>(length_ * sizeof(T)), 0, 0, 0};
    DataCopyPad(y_[at], y, row);
    yQueue_.FreeTensor(y);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> xQueue_;
  TQue<QuePosition::VECOUT, 2> yQueue_;
  TBuf<QuePosition::VECCALC> wideBuffer_, squareBuffer_, workBuffer_, sumBuffer_;
  GlobalTensor<T> x_, y_;
  uint32_t first_, end_, length_;
  float eps_;
};

extern "C" __global__ __aicore__ void row_standard(GM_ADDR x, GM_ADDR y,
                                                   GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowStandardTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowStandardTilingData, tilingData, tiling);
  (void)workspace;
  KernelRowStandard<DTYPE_X> op;
  op.Init(x, y, tilingData.rows, tilingData.length, tilingData.rowsPerBlock,
          tilingData.eps);
  op.Process();
}
