// One look at the row: sums of d and of d^2, where d is how far an element lies from the first
// one. Nothing cancels, as the first one is as far from zero as the others are.
#include "kernel_operator.h"
#include "row_standard_tiling.h"

using namespace AscendC;

template <typename T>
class KernelRowStandard {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t length,
                              uint32_t rowsPerBlock, float eps) {
    row_ = GetBlockIdx() * rowsPerBlock;
    end_ = row_ + rowsPerBlock < rows ? row_ + rowsPerBlock : rows;
    length_ = length;
    eps_ = eps;
    padded_ = (length + 63) / 64 * 64;
    x_.SetGlobalBuffer((__gm__ T*)x, static_cast<uint64_t>(rows) * length);
    y_.SetGlobalBuffer((__gm__ T*)y, static_cast<uint64_t>(rows) * length);
    pipe_.InitBuffer(in_, 1, padded_ * sizeof(T));
    pipe_.InitBuffer(out_, 1, padded_ * sizeof(T));
    pipe_.InitBuffer(floats_, 2 * padded_ * sizeof(float));
    pipe_.InitBuffer(small_, 4096 + 64);
  }

  __aicore__ inline void Process() {
    for (; row_ < end_; ++row_) Row(static_cast<uint64_t>(row_) * length_);
  }

 private:
  __aicore__ inline void Row(uint64_t at) {
    const float count = static_cast<float>(length_);
    const DataCopyExtParams row{1, static_cast<uint32_t>(length_ * sizeof(T)), 0, 0, 0};
    LocalTensor<T> in = in_.template AllocTensor<T>();
    DataCopyPad(in, x_[at], row, DataCopyPadExtParams<T>{false, 0, 0, 0});
    in_.EnQue(in);
    in = in_.template DeQue<T>();
    LocalTensor<float> d = floats_.Get<float>(), square = d[padded_];
    if constexpr (sizeof(T) == 4) {
      Muls(d, in, 1.0f, length_);
    } else {
      Cast(d, in, RoundMode::CAST_NONE, length_);
    }
    in_.FreeTensor(in);
    Meet<HardEvent::V_S>();
    const float pivot = d.GetValue(0);
    Meet<HardEvent::S_V>();
    Adds(d, d, -pivot, length_);
    Mul(square, d, d, length_);
    LocalTensor<float> work = small_.Get<float>();
    LocalTensor<float> sums = work[1024];
    ReduceSum(sums, d, work, length_);
    ReduceSum(sums[8], square, work, length_);
    Meet<HardEvent::V_S>();
    const float mean = sums.GetValue(0) / count;
    const float factor = 1.0f / Root(sums.GetValue(8) / count - mean * mean + eps_);
    Meet<HardEvent::S_V>();
    Adds(d, d, -mean, length_);
    LocalTensor<T> out = out_.template AllocTensor<T>();
    if constexpr (sizeof(T) == 4) {
      Muls(out, d, factor, length_);
    } else {
      Muls(d, d, factor, length_);
      Cast(out, d, RoundMode::CAST_RINT, length_);
    }
    out_.EnQue(out);
    out = out_.template DeQue<T>();
    DataCopyPad(y_[at], out, row);
    out_.FreeTensor(out);
  }

  // The scalar unit has no documented square root.
  __aicore__ inline float Root(float value) {
    LocalTensor<float> one = small_.Get<float>();
    one.SetValue(0, value);
    Meet<HardEvent::S_V>();
    Sqrt(one, one, 1);
    Meet<HardEvent::V_S>();
    const float root = one.GetValue(0);
    Meet<HardEvent::S_V>();
    return root;
  }

  template <HardEvent event>
  __aicore__ inline void Meet() {
    const event_t id = static_cast<event_t>(pipe_.FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> in_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> floats_, small_;
  GlobalTensor<T> x_, y_;
  uint32_t row_, end_, length_, padded_;
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
