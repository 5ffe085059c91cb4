// n numbers of one type as another one: through two queues, in shares as common_elements.h has them.
//
// What the host API launches around a kernel whose statistics are float32, if the caller's are not. A few numbers a group: the time is
// that of a launch, so that one buffer a queue is enough.
#pragma once
#include "../common/common_elements.h"

constexpr uint32_t kCastTile = 4096;  // elements: 16 KiB of floats

template <class From, class To>
class CastElements {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t n) {
    share_.Take(n, kElementsLine / 2);  // whole lines of the L2 cache on both sides
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ From*>(x), n);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ To*>(y), n);
    pipe->InitBuffer(xQueue_, 1, kCastTile * sizeof(From));
    pipe->InitBuffer(yQueue_, 1, kCastTile * sizeof(To));
  }

  __aicore__ inline void Process() {
    for (uint32_t at = share_.begin; at < share_.end; at += kCastTile)
      Cast(at, share_.end - at < kCastTile ? share_.end - at : kCastTile);
  }

 private:
  __aicore__ inline void Cast(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<From> x = xQueue_.template AllocTensor<From>();
    AscendC::DataCopyExtParams in{1, static_cast<uint32_t>(count * sizeof(From)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<From> pad{false, 0, 0, static_cast<From>(0.0f)};
    AscendC::DataCopyPad(x, xGm_[at], in, pad);
    xQueue_.EnQue(x);
    x = xQueue_.template DeQue<From>();
    AscendC::LocalTensor<To> y = yQueue_.template AllocTensor<To>();
    constexpr AscendC::RoundMode kRound =
        sizeof(From) < sizeof(To) ? AscendC::RoundMode::CAST_NONE : AscendC::RoundMode::CAST_RINT;
    AscendC::Cast(y, x, kRound, count);
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
    y = yQueue_.template DeQue<To>();
    AscendC::DataCopyExtParams out{1, static_cast<uint32_t>(count * sizeof(To)), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[at], y, out);
    yQueue_.FreeTensor(y);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::GlobalTensor<From> xGm_;
  AscendC::GlobalTensor<To> yGm_;
  ElementsShare share_;
};
