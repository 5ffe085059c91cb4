// The first stage of RMSNorm's gradients: dx, and for each chunk of rows the sums of dy * x * rstd, its share of dgamma.
//
// A tile is some whole rows of a chunk, or, of rows that are longer than a tile, a part of one. Tiles of whole rows come once. Parts come
// twice: in the first pass over a chunk for the sums of its rows, in the second for dx and dgamma. The second pass takes all rows of a
// part, one after the other, so that one tile of sums is enough for rows of any length; what a chunk has is in the L2 cache by then.
// The next tile is on its way while this one is computed. The order of vector instructions is left to the compiler.
//
// kPlus: a gradient that reaches x on another way, dsum, is added to dx before that is rounded. Its tile is asked for when work on the
// same tile of dy begins, so that one place in local memory is enough: two would not fit.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "rms_norm_backward_walk.h"

template <class T, bool kPlus = false>
class RmsNormBackwardRows {
  using Floats = AscendC::LocalTensor<float>;
  using Place = RmsNormBackwardPlace;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR rstd, GM_ADDR gamma, GM_ADDR dx,
                              GM_ADDR workspace, const __gm__ RmsNormBackwardTilingData* tiling,
                              GM_ADDR dsum = nullptr) {
    walk_.Init(tiling);
    inverseLength_ = tiling->inverseLength;
    const uint64_t all = static_cast<uint64_t>(tiling->rows) * tiling->length;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dy), all);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), all);
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dx), all);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->length);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->rows);
    linesGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace),
                             static_cast<uint64_t>(tiling->chunks) * tiling->length);
    pipe->InitBuffer(inQueue_, 2, (kXPlace + kTile) * sizeof(T));
    pipe->InitBuffer(rstdQueue_, 2, kRows * sizeof(float));
    pipe->InitBuffer(gammaQueue_, 1, kTile * sizeof(T));
    pipe->InitBuffer(dxQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(lineQueue_, 1, kTile * sizeof(float));
    pipe->InitBuffer(floatBuf_, (kSlot + 2 * kHalf + 3 * kRows * 8 + kRows + kLanes + 8) * sizeof(float));
    product_ = floatBuf_.Get<float>();
    scratch_ = product_[kSlot];
    rstdBlocks_ = scratch_[2 * kHalf];
    scaleBlocks_ = rstdBlocks_[kRows * 8];
    sums_ = scaleBlocks_[kRows * 8];
    numbers_ = sums_[kRows * 8];
    partial_ = numbers_[kRows];
    tileSum_ = partial_[kLanes];
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(wideBuf_, (2 * kSlot + kTile) * sizeof(float));
      wideDy_ = wideBuf_.Get<float>();
      wideX_ = wideDy_[kSlot];
      wideGamma_ = wideX_[kSlot];
    }
    if constexpr (kPlus) {
      dsumGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dsum), all);
      pipe->InitBuffer(dsumQueue_, 1, kTile * sizeof(T));
    }
    AscendC::Duplicate(tileSum_, 0.0f, 8);
  }

  __aicore__ inline void Process() {
    Place here{static_cast<uint32_t>(AscendC::GetBlockIdx()), 0, 0, 0};
    next_ = here;
    Load();
    while (!walk_.IsOver(here)) {
      if (here.row == 0) Begin(here);
      Compute(here);
      const Place done = here;
      walk_.Advance(&here);
      if (here.row == 0) End(done);
    }
    if (gammaHeld_) gammaQueue_.FreeTensor(gamma_);
  }

 private:
  // Starts the copies of the next tile, and of the rstd of a chunk that begins with it. What lies behind a row becomes zero.
  __aicore__ inline void Load() {
    if (walk_.IsOver(next_)) return;
    if (next_.pass == 0 && next_.part == 0 && next_.row == 0) {
      Floats rstd = rstdQueue_.template AllocTensor<float>();
      AscendC::DataCopyExtParams numbers{1, static_cast<uint32_t>(walk_.RowsOf(next_.chunk) * sizeof(float)), 0, 0, 0};
      AscendC::DataCopyPadExtParams<float> any{false, 0, 0, 0.0f};
      AscendC::DataCopyPad(rstd, rstdGm_[walk_.FirstRowOf(next_.chunk)], numbers, any);
      rstdQueue_.EnQue(rstd);
    }
    AscendC::LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    const uint64_t at = walk_.OffsetOf(next_);
    CopyIn(in, dyGm_[at], walk_.LinesOf(next_), walk_.LengthOf(next_), walk_.PitchOf(next_, kBlock));
    CopyIn(in[kXPlace], xGm_[at], walk_.LinesOf(next_), walk_.LengthOf(next_), walk_.PitchOf(next_, kBlock));
    inQueue_.EnQue(in);
    walk_.Advance(&next_);
  }

  __aicore__ inline void LoadDsum(const Place& here) {
    if (!walk_.IsLastPass(here)) return;
    AscendC::LocalTensor<T> dsum = dsumQueue_.template AllocTensor<T>();
    CopyIn(dsum, dsumGm_[walk_.OffsetOf(here)], walk_.LinesOf(here), walk_.LengthOf(here), walk_.PitchOf(here, kBlock));
    dsumQueue_.EnQue(dsum);
  }

  __aicore__ inline void CopyIn(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from, uint32_t lines,
                                uint32_t length, uint32_t pitch) {
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(lines), static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> zeros{true, 0, static_cast<uint8_t>(pitch - length), static_cast<T>(0.0f)};
    AscendC::DataCopyPad(to, from, rows, zeros);
  }

  // Before the first tile of a part: its gamma, and what its chunk needs.
  __aicore__ inline void Begin(const Place& here) {
    if (here.pass == 0 && here.part == 0) {
      Floats rstd = rstdQueue_.template DeQue<float>();
      AscendC::Brcb(rstdBlocks_, rstd, static_cast<uint8_t>((walk_.RowsOf(here.chunk) + 7) / 8), {1, 8});
      rstdQueue_.FreeTensor(rstd);
      AscendC::Duplicate(sums_, 0.0f, static_cast<int32_t>(kRows * 8));
    }
    if (here.pass == 1 && here.part == 0) MakeScale(walk_.RowsOf(here.chunk), true);
    if (walk_.IsLastPass(here)) {
      line_ = lineQueue_.template AllocTensor<float>();
      AscendC::Duplicate(line_, 0.0f, static_cast<int32_t>(walk_.PitchOf(here, kBlock)));
    }
    if (gammaHeld_ && walk_.passes() == 1) return;
    if (gammaHeld_) gammaQueue_.FreeTensor(gamma_);
    gamma_ = gammaQueue_.template AllocTensor<T>();
    CopyIn(gamma_, gammaGm_[here.part * kTile], 1, walk_.LengthOf(here), walk_.PitchOf(here, kBlock));
    gammaQueue_.EnQue(gamma_);
    gamma_ = gammaQueue_.template DeQue<T>();
    gammaHeld_ = true;
    gammaFloats_ = Widen(wideGamma_, gamma_, walk_.PitchOf(here, kBlock));
  }

  // After the last tile of a part: the chunk's line leaves.
  __aicore__ inline void End(const Place& done) {
    if (!walk_.IsLastPass(done)) return;
    lineQueue_.EnQue(line_);
    line_ = lineQueue_.template DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(walk_.LengthOf(done) * sizeof(float)), 0, 0, 0};
    const uint64_t at = walk_.LineOf(done);
    AscendC::DataCopyPad(linesGm_[at], line_, row);
    lineQueue_.FreeTensor(line_);
  }

  __aicore__ inline void Compute(const Place& here) {
    AscendC::LocalTensor<T> in = inQueue_.template DeQue<T>();
    if constexpr (kPlus) LoadDsum(here);
    Load();
    const uint32_t lines = walk_.LinesOf(here), pitch = walk_.PitchOf(here, kBlock);
    const int32_t all = static_cast<int32_t>(lines * pitch);
    const Floats dy = Widen(wideDy_, in, lines * pitch);
    const Floats h = Widen(wideX_, in[kXPlace], lines * pitch);
    ApplyToLines<LineOp::kMul>(h, h, rstdBlocks_[here.row * 8], lines, pitch, pitch);
    if (walk_.IsLastPass(here)) {
      AscendC::Mul(product_, dy, h, all);
      AddRows(lines, pitch);
    }
    TimesGamma(dy, lines, pitch);
    if (here.pass == 0) {
      AscendC::Mul(product_, dy, h, all);
      SumRows(here, lines, pitch);
    }
    if (walk_.IsLastPass(here)) WriteDx(here, dy, h, walk_.passes() == 1 ? scaleBlocks_ : scaleBlocks_[here.row * 8]);
    inQueue_.FreeTensor(in);
  }

  // line += the sum of the products' rows: the lower half is added to the upper one until a single row is left.
  __aicore__ inline void AddRows(uint32_t lines, uint32_t pitch) {
    for (uint32_t left = lines; left > 1;) {
      const uint32_t upper = (left + 1) / 2;
      AscendC::Add(product_, product_, product_[upper * pitch], static_cast<int32_t>((left - upper) * pitch));
      left = upper;
    }
    AscendC::Add(line_, line_, product_, static_cast<int32_t>(pitch));
  }

  // Each row of dy times gamma.
  __aicore__ inline void TimesGamma(const Floats& dy, uint32_t lines, uint32_t pitch) {
    if (FewLongLines(lines, pitch)) {
      for (uint32_t line = 0; line < lines; ++line)
        AscendC::Mul(dy[line * pitch], dy[line * pitch], gammaFloats_, static_cast<int32_t>(pitch));
      return;
    }
    const uint8_t step = static_cast<uint8_t>(pitch / 8);
    for (uint32_t at = 0; at < pitch; at += kLanes) {
      const uint64_t mask = pitch - at < kLanes ? pitch - at : kLanes;
      AscendC::Mul(dy[at], dy[at], gammaFloats_[at], mask, static_cast<uint8_t>(lines), {1, 1, 1, step, step, 0});
    }
  }

  // The sums of the products' rows; of whole rows what follows from them, too. Of a few long rows, and of parts, a sum is the first float
  // of a block.
  __aicore__ inline void SumRows(const Place& here, uint32_t lines, uint32_t pitch) {
    const bool few = walk_.passes() == 2 || FewLongLines(lines, pitch);
    if (!few) {
      SumLines(numbers_, product_, scratch_, kHalf, lines, pitch, pitch);
    } else {
      if (walk_.passes() == 1) AscendC::Duplicate(sums_, 0.0f, static_cast<int32_t>((lines + 7) / 8 * 64));
      for (uint32_t line = 0; line < lines; ++line)
        AddRow(sums_[(walk_.passes() == 1 ? line : here.row) * 8], product_[line * pitch], pitch);
    }
    if (walk_.passes() == 1) MakeScale(lines, few);
  }

  // sum[0] += the sum of n floats: 64 neighbours to one number, then these numbers to one.
  __aicore__ inline void AddRow(const Floats& sum, const Floats& row, uint32_t n) {
    const uint32_t whole = n / kLanes, rest = n % kLanes;
    if (whole > 0)
      AscendC::WholeReduceSum(partial_, row, static_cast<int32_t>(kLanes), static_cast<int32_t>(whole), 1, 1, 8);
    if (rest > 0) AscendC::WholeReduceSum(partial_[whole], row[whole * kLanes], static_cast<int32_t>(rest), 1, 1, 1, 8);
    AscendC::WholeReduceSum(tileSum_, partial_, static_cast<int32_t>(whole + (rest > 0 ? 1 : 0)), 1, 1, 1, 8);
    AscendC::Add(sum, sum, tileSum_, 8);
  }

  // A block of c for each row. inBlocks: the sums are where AddRow leaves them; otherwise they are numbers already.
  __aicore__ inline void MakeScale(uint32_t rows, bool inBlocks) {
    const uint32_t repeats = (rows + 7) / 8;
    if (inBlocks) AscendC::BlockReduceSum(numbers_, sums_, static_cast<int32_t>(repeats), 64, 1, 1, 8);
    AscendC::Muls(numbers_, numbers_, inverseLength_, static_cast<int32_t>(repeats * 8));
    AscendC::Brcb(scaleBlocks_, numbers_, static_cast<uint8_t>(repeats), {1, 8});
  }

  // dx = rstd * (dy - h * c), where dy has been multiplied by gamma; plus dsum.
  __aicore__ inline void WriteDx(const Place& here, const Floats& dy, const Floats& h, const Floats& scales) {
    const uint32_t lines = walk_.LinesOf(here), pitch = walk_.PitchOf(here, kBlock);
    ApplyToLines<LineOp::kMul>(product_, h, scales, lines, pitch, pitch);
    AscendC::Sub(dy, dy, product_, static_cast<int32_t>(lines * pitch));
    AscendC::LocalTensor<T> dx = dxQueue_.template AllocTensor<T>();
    if constexpr (kIsFloat<T>) {
      ApplyToLines<LineOp::kMul>(dx, dy, rstdBlocks_[here.row * 8], lines, pitch, pitch);
      if constexpr (kPlus) AddDsum(dx, lines * pitch);
    } else {
      ApplyToLines<LineOp::kMul>(dy, dy, rstdBlocks_[here.row * 8], lines, pitch, pitch);
      if constexpr (kPlus) AddDsum(dy, lines * pitch);
      Narrow(dx, dy, lines * pitch);
    }
    dxQueue_.EnQue(dx);
    dx = dxQueue_.template DeQue<T>();
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(lines),
                                    static_cast<uint32_t>(walk_.LengthOf(here) * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(dxGm_[walk_.OffsetOf(here)], dx, rows);
    dxQueue_.FreeTensor(dx);
  }

  __aicore__ inline void AddDsum(const Floats& dx, uint32_t n) {
    AscendC::LocalTensor<T> dsum = dsumQueue_.template DeQue<T>();
    AscendC::Add(dx, dx, Widen(product_, dsum, n), static_cast<int32_t>(n));
    dsumQueue_.FreeTensor(dsum);
  }

  static constexpr uint32_t kTile = kRmsNormBackwardTile;
  static constexpr uint32_t kRows = kRmsNormBackwardRows;
  static constexpr uint32_t kLanes = 64;                    // floats of a repeat
  static constexpr uint32_t kBlock = 32 / sizeof(T);        // elements of 32 bytes
  static constexpr uint32_t kXPlace = kTile + 8 * kBlock;   // 256 bytes behind dy: two operands in different banks
  static constexpr uint32_t kSlot = kTile + kLanes;         // the same for floats
  static constexpr uint32_t kHalf = 1024;                   // what SumLines needs for a tile of lines that are not few
  AscendC::TQue<AscendC::TPosition::VECIN, 2> inQueue_;     // a tile of dy and one of x
  AscendC::TQue<AscendC::TPosition::VECIN, 2> rstdQueue_;   // of a chunk
  AscendC::TQue<AscendC::TPosition::VECIN, 1> gammaQueue_;  // of a part
  AscendC::TQue<AscendC::TPosition::VECIN, 1> dsumQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> dxQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> lineQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> floatBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::LocalTensor<T> gamma_;
  Floats gammaFloats_;
  Floats line_;     // sums for dgamma, of one part
  Floats product_;  // a tile
  Floats scratch_;
  Floats rstdBlocks_;   // a block of eight equal numbers for each row of the chunk
  Floats scaleBlocks_;  // the same for c; of the tile's rows where a tile has whole rows
  Floats sums_;         // a block for each row, of which the first float counts
  Floats numbers_;
  Floats partial_;  // 64 sums of 64 floats each
  Floats tileSum_;  // a block of which the first float counts, and the others are 0
  Floats wideDy_;
  Floats wideX_;
  Floats wideGamma_;
  AscendC::GlobalTensor<T> dyGm_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> dsumGm_;
  AscendC::GlobalTensor<T> dxGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<float> linesGm_;
  RmsNormBackwardWalk walk_;
  Place next_{0, 0, 0, 0};  // the tile that is copied next
  float inverseLength_ = 0.0f;
  bool gammaHeld_ = false;
};
