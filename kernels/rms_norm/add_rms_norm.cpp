// RMSNorm of a sum: sum = x + residual, y = sum * rstd * gamma, rstd = 1 / sqrt(mean(sum * sum) + eps) for each row.
//
// In a transformer x is what a layer adds to the residual stream: the sum is the stream from here on, and its norm what the next layer
// gets. Two launches write the sum and read it again. Here it is in local memory when RMSNorm wants it, so four tensors move instead of
// five: x and residual come, sum and y go. A row of more than a tile comes back for y, and then it is the sum that is read: one
// tensor instead of two, once this core's writes of it are over.
// The sum is rounded to the dtype first, and the rounded numbers are normalised: sum is what the caller and the gradients get, and
// y and rstd are exactly its own. Bit for bit that is what the two launches give. The documentation of aclnnAddRmsNorm leaves this open; the
// reference that Huawei tests its operator with (ops-nn, norm/add_rms_norm/tests/assets/golden.py) rounds first on Atlas A2 and A3,
// and not on later chips.
// The timeline should show MTE2 with two tiles for each of rms_norm's one, MTE3 as well, and V a little busier. With rows of a
// hundred elements the scalar unit is the slowest, here as there: the fused launch is no faster than the two.
#include "../common/common_sync.h"
#include "rms_norm_rows.h"

// Rows that are sums, which leave as they are made.
template <class T>
class SummedRows {
  using Tile = AscendC::LocalTensor<T>;
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint64_t elements, GM_ADDR x, GM_ADDR residual, GM_ADDR sum) {
    pipe_ = pipe;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    residualGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(residual), elements);
    sumGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(sum), elements);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(residualQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(sumQueue_, 2, kTile * sizeof(T));
  }

  __aicore__ inline void Load(uint64_t at, uint32_t n, bool again) {
    if (again) {
      if (writing_) SyncPipes<AscendC::HardEvent::MTE3_MTE2>(pipe_);  // all sums of the row have been taken by now
      writing_ = false;
      LoadInto(&xQueue_, sumGm_[at], n);
    } else {
      LoadInto(&xQueue_, xGm_[at], n);
      LoadInto(&residualQueue_, residualGm_[at], n);
    }
  }

  __aicore__ inline Tile Take(uint64_t at, uint32_t n, bool again, const Floats& wide, const Floats& wideResidual) {
    Tile x = xQueue_.template DeQue<T>();
    if (again) return x;
    Tile residual = residualQueue_.template DeQue<T>();
    Tile sum = sumQueue_.template AllocTensor<T>();
    AddInto(sum, x, residual, n, wide, wideResidual);
    AscendC::PipeBarrier<PIPE_V>();
    xQueue_.FreeTensor(x);
    residualQueue_.FreeTensor(residual);
    sumQueue_.EnQue(sum);
    sum = sumQueue_.template DeQue<T>();
    CopyOut(sumGm_[at], sum, n);
    writing_ = true;
    return sum;
  }

  // A sum's place is free when it has left, and has been read for the last time.
  __aicore__ inline void Free(Tile& tile, bool again) {
    if (again) {
      xQueue_.FreeTensor(tile);
    } else {
      sumQueue_.FreeTensor(tile);
    }
  }

 private:
  using Queue = AscendC::TQue<AscendC::TPosition::VECIN, 2>;

  __aicore__ inline void LoadInto(Queue* queue, const AscendC::GlobalTensor<T>& from, uint32_t n) {
    Tile tile = queue->template AllocTensor<T>();
    CopyIn(tile, from, n);
    queue->EnQue(tile);
  }

  // As float and back, whatever the dtype: the float between loses nothing, because it has more than twice the digits and two more.
  __aicore__ inline void AddInto(const Tile& sum, const Tile& x, const Tile& residual, uint32_t n, const Floats& wide,
                                 const Floats& wideResidual) {
    const Floats a = Widen(wide, x, n), b = Widen(wideResidual, residual, n);
    if constexpr (kIsFloat<T>) {
      AscendC::Add(sum, a, b, static_cast<int32_t>(n));
    } else {
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Add(a, a, b, static_cast<int32_t>(n));
      AscendC::PipeBarrier<PIPE_V>();
      Narrow(sum, a, n);
    }
  }

  AscendC::TPipe* pipe_ = nullptr;
  Queue xQueue_;  // of x, and of sums that come back
  Queue residualQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> sumQueue_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> residualGm_;
  AscendC::GlobalTensor<T> sumGm_;
  bool writing_ = false;  // a sum has left since the last wait
};

template <class T>
using AddRmsNorm = RmsNormRows<T, SummedRows<T>>;

extern "C" __global__ __aicore__ void add_rms_norm_kernel(GM_ADDR x, GM_ADDR residual, GM_ADDR gamma, GM_ADDR y,
                                                          GM_ADDR sum, GM_ADDR rstd, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ RmsNormTilingData*>(tiling);
  RunForDtype<AddRmsNorm>(numbers->tilingKey, numbers, gamma, y, rstd, x, residual, sum);
}
