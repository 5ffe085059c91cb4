// The mean is taken twice: what is left of the row after the first one has a mean of its own,
// which is the rounding of the first. Sums are made of halves of the lanes.
#include "kernel_operator.h"
#include "row_standard_tiling.h"

using namespace AscendC;

constexpr uint32_t kLongest = 6144;

__aicore__ inline void Widen(const LocalTensor<float>& to,
                             const LocalTensor<half>& from, uint32_t count) {
  Cast(to, from, RoundMode::CAST_NONE, count);
}

__aicore__ inline void Widen(const LocalTensor<float>& to,
                             const LocalTensor<float>& from, uint32_t count) {
  Adds(to, from, 0.0f, count);
}

__aicore__ inline void Narrow(const LocalTensor<half>& to,
                              const LocalTensor<float>& from, uint32_t count) {
  Cast(to, from, RoundMode::CAST_RINT, count);
}

__aicore__ inline void Narrow(const LocalTensor<float>& to,
                              const LocalTensor<float>& from, uint32_t count) {
  Adds(to, from, 0.0f, count);
}

class KernelRowStandard {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, float inverse,
                              float eps) {
    length_ = length;
    inverse_ = inverse;
    eps_ = eps;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y);
    pipe_.InitBuffer(in_, 2, kLongest * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 1, kLongest * sizeof(DTYPE_X));
    pipe_.InitBuffer(row_, kLongest * sizeof(float));
    pipe_.InitBuffer(lanes_, kLongest * sizeof(float));
  }

  __aicore__ inline void Process(uint32_t rows) {
    for (uint32_t row = GetBlockIdx(); row < rows; row += GetBlockNum()) {
      const uint64_t at = static_cast<uint64_t>(row) * length_;
      LocalTensor<float> values = row_.Get<float>(), lanes = lanes_.Get<float>();
      Read(values, at);
      for (int again = 0; again < 2; ++again) {
        Adds(lanes, values, 0.0f, length_);
        Adds(values, values, -MeanOf(lanes), length_);
      }
      Mul(lanes, values, values, length_);
      Muls(values, values, 1.0f / Root(MeanOf(lanes) + eps_), length_);
      Write(values, at);
    }
  }

 private:
  // The mean of the lanes, which it uses up: whole repeats of 64 are folded into the first.
  __aicore__ inline float MeanOf(const LocalTensor<float>& lanes) {
    uint32_t repeats = (length_ + 63) / 64;
    uint32_t last = length_ - (repeats - 1) * 64;
    while (repeats > 1) {
      const uint32_t low = repeats / 2, high = repeats - low;
      // The upper ones, of which the last may be short, are added to the lower ones.
      Add(lanes, lanes, lanes[high * 64], (low - 1) * 64 + last);
      last = 64;
      repeats = high;
    }
    WholeReduceSum(lanes, lanes, length_ < 64 ? length_ : 64, 1, 1, 1, 8);
    Meet<HardEvent::V_S>();
    const float mean = lanes.GetValue(0) * inverse_;
    Meet<HardEvent::S_V>();
    return mean;
  }

  // The scalar unit has no documented square root.
  __aicore__ inline float Root(float value) {
    LocalTensor<float> one = lanes_.Get<float>();
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

  __aicore__ inline void Read(const LocalTensor<float>& values, uint64_t at) {
    LocalTensor<DTYPE_X> in = in_.AllocTensor<DTYPE_X>();
    const uint32_t bytes = length_ * sizeof(DTYPE_X);
    DataCopyPad(in, x_[at], DataCopyExtParams{1, bytes, 0, 0, 0},
                DataCopyPadExtParams<DTYPE_X>{false, 0, 0, 0});
    in_.EnQue(in);
    in = in_.DeQue<DTYPE_X>();
    Widen(values, in, length_);
    in_.FreeTensor(in);
  }

  __aicore__ inline void Write(const LocalTensor<float>& values, uint64_t at) {
    LocalTensor<DTYPE_X> out = out_.AllocTensor<DTYPE_X>();
    const uint32_t bytes = length_ * sizeof(DTYPE_X);
    Narrow(out, values, length_);
    out_.EnQue(out);
    out = out_.DeQue<DTYPE_X>();
    DataCopyPad(y_[at], out, DataCopyExtParams{1, bytes, 0, 0, 0});
    out_.FreeTensor(out);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> row_, lanes_;
  GlobalTensor<DTYPE_X> x_, y_;
  uint32_t length_;
  float inverse_, eps_;
};

extern "C" __global__ __aicore__ void row_standard(GM_ADDR x, GM_ADDR y,
                                                   GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowStandardTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowStandardTilingData, tilingData, tiling);
  (void)workspace;
  KernelRowStandard op;
  op.Init(x, y, tilingData.length, tilingData.inverse, tilingData.eps);
  op.Process(tilingData.rows);
}
