// Step 5, the first stage for small groups: dx of many groups at once, and what they add to dgamma and dbeta.
//
// A tile is some groups of one sample, or some whole samples. Every number of a group (its mean, what that lacks, rstd, both sums) stays
// in the vector unit, as a block of eight equal floats where an instruction repeats over groups; the scalar unit waits for nobody. The
// samples of a tile are added up before the sums of their rows are taken, so the table of the second stage has one line for each such
// tile, and what is in it is final.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

template <class T>
class GroupNormBackwardSmall {
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                              GM_ADDR dx, GM_ADDR workspace, const __gm__ GroupNormBackwardTilingData* tiling) {
    wantsDx_ = (tiling->mask & kGroupNormWantDx) != 0;
    wantsDgamma_ = (tiling->mask & kGroupNormWantDgamma) != 0;
    wantsDbeta_ = (tiling->mask & kGroupNormWantDbeta) != 0;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    groupElements_ = tiling->groupElements;
    tileGroups_ = tiling->tileGroups;
    wholeSamples_ = tileGroups_ % groups_ == 0;
    unitGroups_ = wholeSamples_ ? tiling->totalGroups : groups_;
    unitTiles_ = (unitGroups_ + tileGroups_ - 1) / tileGroups_;
    // A line is a row; where a row is a single element, a group. Then gamma differs inside a line.
    perElement_ = tiling->spatial == 1;
    length_ = perElement_ ? channelsPerGroup_ : tiling->spatial;
    groupLines_ = perElement_ ? 1 : channelsPerGroup_;
    // As floats, lines of whole blocks lie one behind the other; others have each a block of what they come as.
    pitch_ = length_ % kFloats == 0 ? length_ : (length_ + kBlock - 1) / kBlock * kBlock;
    width_ = groupLines_ * pitch_;
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t extra = core < tiling->extraGroups ? core : tiling->extraGroups;
    first_ = core * tiling->groupsPerCore + extra;
    last_ = first_ + tiling->groupsPerCore + (core < tiling->extraGroups ? 1 : 0);

    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * groupElements_;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dy), elements);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dx), elements);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->channels);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    const uint64_t entries = tiling->tableEntries;
    __gm__ float* tables = reinterpret_cast<__gm__ float*>(workspace);
    plainGm_.SetGlobalBuffer(tables, entries);
    spreadGm_.SetGlobalBuffer(tables + entries, entries);

    // What one instruction reads together begins half the bank groups of local memory apart: dy and scratch where they begin, and x, the
    // product, gamma and dx 256 bytes behind.
    constexpr uint32_t kHalf = 64;
    const uint32_t tiles = kIsFloat<T> ? 3 * kTile + kHalf : 5 * kTile + 3 * kHalf;
    pipe->InitBuffer(inQueue_, 2, kInBytes);
    pipe->InitBuffer(tilesBuf_, tiles * sizeof(float));
    pipe->InitBuffer(dxQueue_, 1, kTile * sizeof(T));
    pipe->InitBuffer(sumsQueue_, 1, 2 * kTile * sizeof(float));
    pipe->InitBuffer(numbersBuf_, 4 * kMost * sizeof(float));
    pipe->InitBuffer(ofGroupsBuf_, kBlocksOfGroups * sizeof(float));
    ofGroups_ = ofGroupsBuf_.template Get<float>();
    scratch_ = tilesBuf_.template Get<float>();
    product_ = scratch_[kTile + kHalf];
    gamma_ = product_[kTile];
    wideDy_ = gamma_[kIsFloat<T> ? 0 : kTile + kHalf];
    wideX_ = wideDy_[kIsFloat<T> ? 0 : kTile + kHalf];
    lack_ = numbersBuf_.template Get<float>();
    plain_ = lack_[kMost];
    slope_ = plain_[kMost];
    gammaRow_ = slope_[kMost];
  }

  __aicore__ inline void Process() {
    if (first_ < last_) Load(first_);
    for (uint32_t tile = first_; tile < last_; ++tile) {
      if (tile + 1 < last_) Load(tile + 1);
      Compute(tile);
    }
  }

 private:
  // Tiles count through units: the groups of one sample, or, where whole samples are in a tile, all groups.
  __aicore__ inline uint32_t FirstGroup(uint32_t tile) const {
    return tile / unitTiles_ * unitGroups_ + tile % unitTiles_ * tileGroups_;
  }
  __aicore__ inline uint32_t Groups(uint32_t tile) const {
    const uint32_t left = unitGroups_ - tile % unitTiles_ * tileGroups_;
    return left < tileGroups_ ? left : tileGroups_;
  }
  // Groups of a tile whose channels differ.
  __aicore__ inline uint32_t GroupsOfSample(uint32_t tile) const { return wholeSamples_ ? groups_ : Groups(tile); }
  __aicore__ inline bool LoadsGamma(uint32_t tile) const { return wantsDx_ && (tile == first_ || !wholeSamples_); }
  __aicore__ inline bool NeedsX() const { return wantsDx_ || wantsDgamma_; }

  // `lines` rows of `length` elements, each in blocks of its own; rows that fill blocks of floats come as one.
  __aicore__ inline void CopyLines(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                   uint32_t lines, uint32_t length) {
    const uint32_t rows = length % kFloats == 0 ? 1 : lines;
    const uint32_t run = lines / rows * length;
    const uint32_t behind = (kBlock - run % kBlock) % kBlock;
    AscendC::DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(run * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> zeros{true, 0, static_cast<uint8_t>(behind), static_cast<T>(0.0f)};
    AscendC::DataCopyPad(to, from, copy, zeros);
  }

  __aicore__ inline void Load(uint32_t tile) {
    const uint32_t groups = Groups(tile), group = FirstGroup(tile);
    const uint64_t at = static_cast<uint64_t>(group) * groupElements_;
    AscendC::LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    CopyLines(in, dyGm_[at], groups * groupLines_, length_);
    if (NeedsX()) {
      CopyLines(in[kXPlace], xGm_[at], groups * groupLines_, length_);
      const Floats numbers = in[kNumbersPlace].template ReinterpretCast<float>();
      AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(groups * sizeof(float)), 0, 0, 0};
      AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>((8 - groups % 8) % 8), 0.0f};
      AscendC::DataCopyPad(numbers, meanGm_[group], row, zeros);
      AscendC::DataCopyPad(numbers[kMost], rstdGm_[group], row, zeros);
    }
    if (LoadsGamma(tile)) {
      const uint32_t some = GroupsOfSample(tile);
      const AscendC::GlobalTensor<T> gamma = gammaGm_[group % groups_ * channelsPerGroup_];
      CopyLines(in[kGammaPlace], gamma, perElement_ ? some : 1, perElement_ ? length_ : some * channelsPerGroup_);
    }
    inQueue_.EnQue(in);
  }

  // A block for each line, or lines like those of x; then the same for further samples.
  __aicore__ inline void ExpandGamma(const AscendC::LocalTensor<T>& gamma, uint32_t groups) {
    const uint32_t lines = groups * groupLines_;
    const uint32_t sample = lines * (perElement_ ? pitch_ : 8);
    if (!perElement_) {
      const uint32_t whole = (lines + 7) / 8;
      AscendC::Brcb(gamma_, Widen(gammaRow_, gamma, whole * 8), static_cast<uint8_t>(whole), {1, 8});
    } else if constexpr (kIsFloat<T>) {
      AscendC::Adds(gamma_, gamma, 0.0f, static_cast<int32_t>(sample));
    } else {
      Widen(gamma_, gamma, sample);
    }
    const uint32_t all = wholeSamples_ ? tileGroups_ / groups_ * sample : sample;
    for (uint32_t have = sample; have < all; have *= 2)
      AscendC::DataCopy(gamma_[have], gamma_, all - have < have ? all - have : have);
  }

  // sums[i] = sum of the `width` floats of line i; as many as `lines` rounded up to eight are written.
  __aicore__ inline void Sum(const Floats& sums, const Floats& values, uint32_t lines, uint32_t width) {
    SumLines(sums, values, scratch_, kTile / 2, lines, width, width);
  }
  // dst = src op number, a number for each group of the tile.
  template <LineOp op>
  __aicore__ inline void ForGroups(const Floats& dst, const Floats& src, const Floats& numbers, uint32_t groups) {
    if (groupLines_ > 1) {
      BlocksOfGroups(scratch_, numbers, ofGroups_, groups, groupLines_);
      return ApplyToLines<op>(dst, src, scratch_, groups * groupLines_, pitch_, pitch_);
    }
    AscendC::Brcb(scratch_, numbers, static_cast<uint8_t>((groups + 7) / 8), {1, 8});
    ApplyToLines<op>(dst, src, scratch_, groups, width_, width_);
  }
  // sum(values) / D of each group.
  __aicore__ inline void MeanOfGroups(const Floats& means, const Floats& values, uint32_t groups) {
    Sum(means, values, groups, width_);
    AscendC::Muls(means, means, 1.0f / static_cast<float>(groupElements_), static_cast<int32_t>((groups + 7) / 8 * 8));
  }
  // Times gamma of each channel.
  __aicore__ inline void TimesGamma(const Floats& dst, const Floats& src, uint32_t groups) {
    if (perElement_) return AscendC::Mul(dst, src, gamma_, static_cast<int32_t>(groups * width_));
    ApplyToLines<LineOp::kMul>(dst, src, gamma_, groups * groupLines_, pitch_, pitch_);
  }

  __aicore__ inline void Compute(uint32_t tile) {
    const uint32_t groups = Groups(tile);
    const uint32_t elements = groups * width_;
    AscendC::LocalTensor<T> in = inQueue_.template DeQue<T>();
    const Floats dy = Widen(wideDy_, in, elements);
    if (LoadsGamma(tile)) ExpandGamma(in[kGammaPlace], GroupsOfSample(tile));
    if (!NeedsX()) {
      StoreSums(tile, dy);
    } else {
      const Floats x = Widen(wideX_, in[kXPlace], elements);
      const Floats mean = in[kNumbersPlace].template ReinterpretCast<float>();
      const Floats rstd = mean[kMost];
      // x less its mean, and less what the mean lacks: that is a rounded float.
      ForGroups<LineOp::kSub>(x, x, mean, groups);
      ClearBehindLines(x, groups * groupLines_, length_, pitch_);
      MeanOfGroups(lack_, x, groups);
      ForGroups<LineOp::kSub>(x, x, lack_, groups);
      // dy * xhat; what lies behind a line is zero again, because dy is.
      AscendC::Mul(product_, dy, x, static_cast<int32_t>(elements));
      ForGroups<LineOp::kMul>(product_, product_, rstd, groups);
      if (wantsDgamma_ || wantsDbeta_) StoreSums(tile, dy);
      if (wantsDx_) StoreDx(tile, dy, x, rstd);
    }
    inQueue_.FreeTensor(in);
  }

  // What this tile adds to dbeta and dgamma of its channels: sums of dy and of dy * xhat, over rows, and samples.
  __aicore__ inline void StoreSums(uint32_t tile, const Floats& dy) {
    const uint32_t groups = GroupsOfSample(tile), group = FirstGroup(tile);
    const uint32_t lines = groups * groupLines_;
    Floats sums = sumsQueue_.template AllocTensor<float>();
    if (wantsDbeta_) SumSamples(sums, dy, Groups(tile) / groups, lines);
    if (wantsDgamma_) SumSamples(sums[kTile], product_, Groups(tile) / groups, lines);
    sumsQueue_.EnQue(sums);
    sums = sumsQueue_.template DeQue<float>();
    const uint32_t line = wholeSamples_ ? tile : tile / unitTiles_;
    const uint64_t entry = (static_cast<uint64_t>(line) * groups_ + group % groups_) * channelsPerGroup_;
    // One run of numbers, unless each group has blocks of its own.
    const bool apart = perElement_ && length_ < pitch_;
    const uint32_t rows = apart ? groups : 1;
    const uint32_t gap = apart ? pitch_ / 8 - (length_ + 7) / 8 : 0;
    AscendC::DataCopyExtParams copy{static_cast<uint16_t>(rows),
                                    static_cast<uint32_t>(groups / rows * channelsPerGroup_ * sizeof(float)), gap, 0,
                                    0};
    if (wantsDbeta_) AscendC::DataCopyPad(plainGm_[entry], sums, copy);
    if (wantsDgamma_) AscendC::DataCopyPad(spreadGm_[entry], sums[kTile], copy);
    sumsQueue_.FreeTensor(sums);
  }

  // Adds up samples of so many lines by halves, and then each line, unless that is a group with a number for each channel.
  __aicore__ inline void SumSamples(const Floats& sums, const Floats& values, uint32_t samples, uint32_t lines) {
    const uint32_t size = lines * pitch_;
    Floats whole = values;
    if (samples > 1) {
      const uint32_t half = samples / 2;
      AscendC::Add(sums, values, values[half * size], static_cast<int32_t>(half * size));
      if (samples % 2 == 1) AscendC::Add(sums, sums, values[2 * half * size], static_cast<int32_t>(size));
      for (uint32_t count = half; count > 1;) {
        const uint32_t some = (count + 1) / 2;
        AscendC::Add(sums, sums, sums[some * size], static_cast<int32_t>((count - some) * size));
        count = some;
      }
      whole = sums;
    }
    if (!perElement_) return Sum(sums, whole, lines, pitch_);
    if (samples == 1) AscendC::Adds(sums, values, 0.0f, static_cast<int32_t>(size));
  }

  // dx = rstd * (a - E[a] - (x - mean) * slope) with a = dy * gamma and slope = rstd * E[a * xhat].
  __aicore__ inline void StoreDx(uint32_t tile, const Floats& dy, const Floats& x, const Floats& rstd) {
    const uint32_t groups = Groups(tile);
    const int32_t n = static_cast<int32_t>(groups * width_);
    AscendC::LocalTensor<T> out = dxQueue_.template AllocTensor<T>();
    Floats a = dy;  // not needed any more
    if constexpr (kIsFloat<T>) a = out;
    TimesGamma(a, dy, groups);
    TimesGamma(product_, product_, groups);
    MeanOfGroups(plain_, a, groups);
    MeanOfGroups(slope_, product_, groups);
    AscendC::Mul(slope_, slope_, rstd, static_cast<int32_t>((groups + 7) / 8 * 8));
    ForGroups<LineOp::kSub>(a, a, plain_, groups);
    ForGroups<LineOp::kMul>(x, x, slope_, groups);
    AscendC::Sub(a, a, x, n);
    ForGroups<LineOp::kMul>(a, a, rstd, groups);
    Narrow(out, a, static_cast<uint32_t>(n));
    dxQueue_.EnQue(out);
    out = dxQueue_.template DeQue<T>();
    const uint32_t lines = groups * groupLines_;
    const uint32_t rows = length_ == pitch_ ? 1 : lines;
    AscendC::DataCopyExtParams copy{static_cast<uint16_t>(rows),
                                    static_cast<uint32_t>(lines / rows * length_ * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(dxGm_[static_cast<uint64_t>(FirstGroup(tile)) * groupElements_], out, copy);
    dxQueue_.FreeTensor(out);
  }

  static constexpr uint32_t kTile = kIsFloat<T> ? kGroupNormBackwardSmallTile : kGroupNormBackwardNarrowTile;
  static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes
  static constexpr uint32_t kFloats = 8;              // floats of 32 bytes
  static constexpr uint32_t kMost = kTile / kFloats;  // groups or lines of a tile at most
  // What comes in: dy; x; gamma; mean and rstd as floats.
  static constexpr uint32_t kXPlace = kTile + 8 * kBlock;
  static constexpr uint32_t kGammaPlace = kXPlace + kTile;
  static constexpr uint32_t kNumbersPlace = kGammaPlace + kTile;
  static constexpr uint32_t kInBytes = (kNumbersPlace * sizeof(T) + 2 * kMost * sizeof(float) + 511) / 512 * 512;
  AscendC::TQue<AscendC::TPosition::VECIN, 2> inQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> sumsQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> dxQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tilesBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> numbersBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> ofGroupsBuf_;
  Floats ofGroups_;  // a block for each of some groups
  Floats scratch_;
  Floats product_;
  Floats gamma_;   // a block for each line, or an element for each of x
  Floats wideDy_;  // a tile as floats, where it does not come as floats
  Floats wideX_;
  Floats lack_;  // from here on: a number for each group, or for each line
  Floats plain_;
  Floats slope_;
  Floats gammaRow_;
  AscendC::GlobalTensor<T> dyGm_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> dxGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<float> plainGm_;
  AscendC::GlobalTensor<float> spreadGm_;
  bool wantsDx_ = true;
  bool wantsDgamma_ = true;
  bool wantsDbeta_ = true;
  uint32_t groups_ = 0;
  uint32_t channelsPerGroup_ = 0;
  uint32_t groupElements_ = 0;
  uint32_t tileGroups_ = 0;
  bool wholeSamples_ = false;
  uint32_t unitGroups_ = 0;
  uint32_t unitTiles_ = 0;
  bool perElement_ = false;
  uint32_t length_ = 0;      // elements of a line
  uint32_t pitch_ = 0;       // and with what fills its last block
  uint32_t groupLines_ = 0;  // lines of a group
  uint32_t width_ = 0;       // groupLines_ * pitch_
  uint32_t first_ = 0;
  uint32_t last_ = 0;
};
