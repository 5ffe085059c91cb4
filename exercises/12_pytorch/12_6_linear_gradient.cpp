// 12.6 The gradient of x in Linear, y = x W^T + b: dx = dy W, for floats.
//
// dy has `rows` rows of `outs` numbers, W has `outs` rows of `columns` numbers, and dx
// `rows` rows of `columns` numbers; each matrix is stored row after row. A row of dx is
// a sum of rows of W, each times one number of dy:
//   dx[r] = dy[r][0] * W[0] + dy[r][1] * W[1] + ... + dy[r][outs - 1] * W[outs - 1]
// A core computes a tile of dx at a time: at most kRows rows and kTile columns. `outs`
// is at most kMostOuts.
#include "kernel_operator.h"

constexpr uint32_t kTile = 256;  // columns of a tile
constexpr uint32_t kRows = 4;    // rows of a tile
constexpr uint32_t kMostOuts = 512;

class LinearGradient {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR weight,
                              GM_ADDR dx, uint32_t rows, uint32_t outs,
                              uint32_t columns) {
    pipe_ = pipe;
    rows_ = rows;
    outs_ = outs;
    columns_ = columns;
    pitch_ = (outs + 7) / 8 * 8;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dy),
                          static_cast<uint64_t>(rows) * outs);
    weightGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(weight),
                              static_cast<uint64_t>(outs) * columns);
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dx),
                          static_cast<uint64_t>(rows) * columns);
    pipe_->InitBuffer(dyBuf_, kRows * kMostOuts * sizeof(float));
    pipe_->InitBuffer(weightQueue_, 2, kTile * sizeof(float));
    pipe_->InitBuffer(dxQueue_, 2, kRows * kTile * sizeof(float));
    dy_ = dyBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    const uint32_t stride = static_cast<uint32_t>(AscendC::GetBlockNum()) * kRows;
    for (uint32_t first = static_cast<uint32_t>(AscendC::GetBlockIdx()) * kRows;
         first < rows_; first += stride) {
      count_ = rows_ - first < kRows ? rows_ - first : kRows;
      LoadDy(first);
      for (uint32_t at = 0; at < columns_; at += kTile) {
        const uint32_t left = columns_ - at < kTile ? columns_ - at : kTile;
        AscendC::LocalTensor<float> dx = dxQueue_.AllocTensor<float>();
        Compute(dx, at, static_cast<int32_t>(left));
        dxQueue_.EnQue(dx);
        CopyOut(first, at, left);
      }
    }
  }

 private:
  // YOUR TURN: compute n columns of count_ rows of dx, from column `at` on. Row `row`
  // of the tile begins at dx[row * kTile]. AllocTensor clears nothing. Copy each piece
  // of W in once per tile. CopyWeight and Dy, below, are finished.
  __aicore__ inline void Compute(const AscendC::LocalTensor<float>& dx, uint32_t at,
                                 int32_t n) {
    (void)dx;
    (void)at;
    (void)n;
  }

  // The number of dy in row `row` of this tile, for output `out`.
  __aicore__ inline float Dy(uint32_t row, uint32_t out) {
    return dy_.GetValue(row * pitch_ + out);
  }

  // Requests n numbers of row `out` of W, from column `at` on; they come through
  // weightQueue_.
  __aicore__ inline void CopyWeight(uint32_t out, uint32_t at, int32_t n) {
    AscendC::LocalTensor<float> weight = weightQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0,
                                    0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(weight, weightGm_[static_cast<uint64_t>(out) * columns_ + at],
                         part, pad);
    weightQueue_.EnQue(weight);
  }

  // Copies count_ rows of dy in. The scalar unit reads them, so the copy must wait for
  // the scalar unit, and the scalar unit for the copy.
  __aicore__ inline void LoadDy(uint32_t first) {
    Sync<AscendC::HardEvent::S_MTE2>();
    AscendC::DataCopyExtParams part{static_cast<uint16_t>(count_),
                                    static_cast<uint32_t>(outs_ * sizeof(float)), 0, 0,
                                    0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(dy_, dyGm_[static_cast<uint64_t>(first) * outs_], part, pad);
    Sync<AscendC::HardEvent::MTE2_S>();
  }

  __aicore__ inline void CopyOut(uint32_t first, uint32_t at, uint32_t n) {
    AscendC::LocalTensor<float> dx = dxQueue_.DeQue<float>();
    // In local memory a gap counts whole blocks of 32 bytes; in global memory it counts
    // bytes.
    const uint32_t gap = (kTile - (n + 7) / 8 * 8) / 8;
    AscendC::DataCopyExtParams part{
        static_cast<uint16_t>(count_), static_cast<uint32_t>(n * sizeof(float)), gap,
        static_cast<uint32_t>((columns_ - n) * sizeof(float)), 0};
    AscendC::DataCopyPad(dxGm_[static_cast<uint64_t>(first) * columns_ + at], dx, part);
    dxQueue_.FreeTensor(dx);
  }

  // The second pipe of the event waits until the first has finished.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECIN> dyBuf_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> weightQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> dxQueue_;
  AscendC::LocalTensor<float> dy_;  // [kRows][pitch_]
  AscendC::GlobalTensor<float> dyGm_;
  AscendC::GlobalTensor<float> weightGm_;
  AscendC::GlobalTensor<float> dxGm_;
  uint32_t rows_ = 0;     // rows of dy and dx
  uint32_t outs_ = 0;     // columns of dy, rows of W
  uint32_t columns_ = 0;  // columns of W and dx
  uint32_t pitch_ = 0;    // from one row of dy_ to the next: whole blocks of 32 bytes
  uint32_t count_ = 0;    // rows of this tile, kRows or fewer
};

extern "C" __global__ __aicore__ void linear_gradient(GM_ADDR dy, GM_ADDR weight,
                                                      GM_ADDR dx, uint32_t rows,
                                                      uint32_t outs, uint32_t columns) {
  AscendC::TPipe pipe;
  LinearGradient op;
  op.Init(&pipe, dy, weight, dx, rows, outs, columns);
  op.Process();
}
