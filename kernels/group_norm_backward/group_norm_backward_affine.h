// What GroupNorm's affine step made of a piece of x, made again, for gradients that come through an activation behind it.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "kernel_operator.h"

template <class T>
class GroupNormBackwardAffine {
  using Floats = AscendC::LocalTensor<float>;

 public:
  // pitch: rows of a piece at most, whole blocks.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t pitch) {
    pitch_ = pitch;
    pipe->InitBuffer(buffer_, 2 * pitch_ * sizeof(float));
    numbers_ = buffer_.Get<float>();
  }

  // u = (x - mean) * scale + beta with scale = rstd * gamma, a number of each for every row. x: less its mean, or, where that is near zero,
  // as it came; then `mean` is not zero, and goes into the second number. It is the mean that was saved: what that lacks, half a unit in
  // its last place, is no more than what x itself may be off by. What lies behind a row becomes a number, too.
  // wide: floats for a number of each row. blocks: for eight of each, and again from `half` on.
  __aicore__ inline void Make(const Floats& u, const Floats& x, const AscendC::LocalTensor<T>& gamma,
                              const AscendC::LocalTensor<T>& beta, float mean, float rstd, uint32_t rows,
                              uint32_t pitch, const Floats& wide, const Floats& blocks, uint32_t half) {
    const int32_t n = static_cast<int32_t>(rows);
    const uint8_t repeats = static_cast<uint8_t>((rows + 7) / 8);
    const Floats scale = numbers_, shift = numbers_[pitch_], shifts = blocks[half];
    AscendC::Muls(scale, Widen(wide, gamma, rows), rstd, n);
    AscendC::Muls(shift, scale, -mean, n);
    AscendC::Add(shift, shift, Widen(wide, beta, rows), n);
    AscendC::Brcb(blocks, scale, repeats, {1, 8});
    AscendC::Brcb(shifts, shift, repeats, {1, 8});
    ApplyToLines<LineOp::kMul>(u, x, blocks, rows, pitch, pitch);
    ApplyToLines<LineOp::kAdd>(u, u, shifts, rows, pitch, pitch);
  }

 private:
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  AscendC::LocalTensor<float> numbers_;  // of each row: what x is multiplied with, and what is added
  uint32_t pitch_ = 0;
};
