// Step 5, the first stage for small groups: dx of many groups at once, and what they add to dgamma and dbeta.
//
// A tile is some groups of one sample, or some whole samples. Every number of a group (its mean, what that lacks, rstd, both sums) stays
// in the vector unit, as a block of eight equal floats where an instruction repeats over groups; the scalar unit waits for nobody. The
// samples of a tile are added up before the sums of their rows are taken, so the table of the second stage has one line for each such
// tile, and what is in it is final.
#pragma once
#include "../common/common_short_lines.h"
#include "group_norm_backward_small_parts.h"

template <class T, class Epilogue = GroupNormBackwardIdentity>
class GroupNormBackwardSmall : public GroupNormBackwardSmallParts<T, Epilogue> {
  using Base = GroupNormBackwardSmallParts<T, Epilogue>;
  using Floats = AscendC::LocalTensor<float>;
  using Base::kTile, Base::kFloats, Base::kMost, Base::kXPlace, Base::kGammaPlace, Base::kBetaPlace,
      Base::kNumbersPlace, Base::kRepeat, Base::inQueue_, Base::sumsQueue_, Base::dxQueue_, Base::ofGroups_,
      Base::scratch_, Base::near_, Base::product_, Base::gamma_, Base::wideDy_, Base::wideX_, Base::lack_, Base::plain_,
      Base::slope_, Base::spread_, Base::scale_, Base::gammaRow_, Base::betaRow_, Base::wantsDx_, Base::wantsDgamma_,
      Base::wantsDbeta_, Base::groupElements_, Base::tileGroups_, Base::wholeSamples_, Base::perElement_, Base::single_,
      Base::short_, Base::length_, Base::pitch_, Base::groupLines_, Base::width_, Base::first_, Base::last_,
      Base::Groups, Base::GroupsOfSample, Base::LoadsGamma, Base::NeedsX, Base::Load, Base::Expand, Base::Sum,
      Base::MeanOfGroups, Base::TimesGamma, Base::SumSamples, Base::AddSamples, Base::SumsLeave, Base::DxLeaves;

 public:
  __aicore__ inline void Process() {
    if (first_ < last_) Load(first_);
    for (uint32_t tile = first_; tile < last_; ++tile) {
      if (tile + 1 < last_) Load(tile + 1);
      Compute(tile);
    }
  }

 private:
  // dy as it reaches GroupNorm, from x less its mean: u = x * gamma * rstd + beta. Every line is made whole, so that what lies behind it is a
  // number: dy is zero there, and stays it. What the mean lacks is left out, as in the other way (group_norm_backward_groups.h).
  __aicore__ inline void Activate(const Floats& dy, const Floats& x, const AscendC::LocalTensor<T>& beta,
                                  const Floats& rstd, uint32_t tile) {
    if constexpr (Epilogue::kActivates) {
      const uint32_t groups = Groups(tile);
      TimesGamma(product_, x, groups);
      this->template ForGroups<LineOp::kMul>(product_, rstd, groups);
      Expand(scratch_, beta, GroupsOfSample(tile));
      this->template WithChannels<LineOp::kAdd>(product_, product_, scratch_, groups);
      Epilogue::Apply(dy, dy, product_, near_, scratch_, groups * width_);
    }
  }
  // The same where a group is a line, and gamma and beta are in gammaRow_ and betaRow_.
  __aicore__ inline void ActivateSingle(const Floats& dy, const Floats& x, const Floats& rstd, uint32_t groups,
                                        int32_t elements) {
    if constexpr (Epilogue::kActivates) {
      AscendC::Mul(slope_, rstd, gammaRow_, static_cast<int32_t>((groups + 7) / 8 * 8));
      AscendC::Adds(product_, x, 0.0f, elements);
      ForEach<LineOp::kMul>(product_, slope_, groups);
      ForEach<LineOp::kAdd>(product_, betaRow_, groups);
      Epilogue::Apply(dy, dy, product_, near_, scratch_, static_cast<uint32_t>(elements));
    }
  }

  __aicore__ inline void Compute(uint32_t tile) {
    AscendC::LocalTensor<T> in = inQueue_.template DeQue<T>();
    if (single_) {
      ComputeSingle(tile, in);
    } else if (perElement_ || pitch_ == kFloats || !NeedsX()) {
      ComputeSeveral(tile, in);
    } else {
      ComputeLines(tile, in);
    }
    inQueue_.FreeTensor(in);
  }

  __aicore__ inline void ComputeSeveral(uint32_t tile, const AscendC::LocalTensor<T>& in) {
    const uint32_t groups = Groups(tile);
    const uint32_t elements = groups * width_;
    const Floats dy = Widen(wideDy_, in, elements);
    if (LoadsGamma(tile)) Expand(gamma_, in[kGammaPlace], GroupsOfSample(tile));
    if (!NeedsX()) {
      StoreSums(tile, dy);
    } else {
      const Floats x = Widen(wideX_, in[kXPlace], elements);
      const Floats mean = in[kNumbersPlace].template ReinterpretCast<float>();
      const Floats rstd = mean[kMost];
      // x less its mean, and less what the mean lacks: that is a rounded float.
      const int32_t n = static_cast<int32_t>((groups + 7) / 8 * 8);
      this->template ForGroups<LineOp::kSub>(x, mean, groups);
      if (pitch_ == kFloats) ClearBehindLines(x, groups * groupLines_, length_, pitch_);
      Activate(dy, x, in[kBetaPlace], rstd, tile);
      Sum(lack_, x, groups, width_);
      AscendC::Muls(lack_, lack_, 1.0f / static_cast<float>(groupElements_), n);
      this->template ForGroups<LineOp::kSub>(x, lack_, groups);
      // dy * xhat; what lies behind a line is zero again, because dy is.
      AscendC::Mul(product_, dy, x, static_cast<int32_t>(elements));
      this->template ForGroups<LineOp::kMul>(product_, rstd, groups);
      if (wantsDgamma_ || wantsDbeta_) StoreSums(tile, dy);
      if (wantsDx_) StoreDx(tile, dy, x, rstd);
    }
  }

  // Where lines are longer than a block, all that is known of a group meets its lines' sums instead of their elements. Of each line there are
  // parts of eight lanes of S1 = sum(dy) and S2 = sum(dy * (x - mean)); with lack = sum(x - mean) / D of its group, a channel's gradients are
  // sums of S1 and of Q = rstd * (S2 - lack * S1), and
  //   dx = A * dy + B * (x - mean) - C,  A = rstd * gamma,  B = -rstd^2 * E[gamma * Q],  C = rstd * E[gamma * S1] + B * lack,
  // where E is a sum over the lines of a group, divided by D.
  __aicore__ inline void ComputeLines(uint32_t tile, const AscendC::LocalTensor<T>& in) {
    const uint32_t groups = Groups(tile), lines = groups * groupLines_;
    const uint32_t elements = groups * width_;
    const Floats dy = Widen(wideDy_, in, elements);
    if (LoadsGamma(tile)) Expand(gamma_, in[kGammaPlace], GroupsOfSample(tile));
    const Floats x = Widen(wideX_, in[kXPlace], elements);
    const Floats mean = in[kNumbersPlace].template ReinterpretCast<float>();
    const Floats rstd = mean[kMost];
    this->template ForGroups<LineOp::kSub>(x, mean, groups);
    Activate(dy, x, in[kBetaPlace], rstd, tile);
    AscendC::Mul(product_, dy, x, static_cast<int32_t>(elements));
    Sum(lack_, x, groups, width_);
    const float count = 1.0f / static_cast<float>(groupElements_);
    const uint32_t whole = (groups + 7) / 8 * 8;
    const int32_t n = static_cast<int32_t>(whole);
    AscendC::Muls(lack_, lack_, count, n);

    const Floats sums = sumsQueue_.template AllocTensor<float>();
    const uint32_t each = (pitch_ + kRepeat - 1) / kRepeat;  // blocks of parts of a line
    const Floats plain = sums[kTile / 2], spread = sums[kTile + kTile / 2];
    const int32_t parts = static_cast<int32_t>(lines * each * 8);
    SumBlocksOfLines(plain, dy, lines, pitch_, pitch_);
    SumBlocksOfLines(spread, product_, lines, pitch_, pitch_);
    const Floats weighedPlain = product_, weighedSpread = product_[kTile / 2];
    BlocksWithGroups<LineOp::kMul>(product_, plain, lack_, ofGroups_, groups, groupLines_ * each);
    AscendC::Sub(spread, spread, product_, parts);
    BlocksWithGroups<LineOp::kMul>(spread, spread, rstd, ofGroups_, groups, groupLines_ * each);
    if (wantsDx_) {
      ApplyToLines<LineOp::kMul>(weighedPlain, plain, gamma_, lines, each * 8, each * 8);
      ApplyToLines<LineOp::kMul>(weighedSpread, spread, gamma_, lines, each * 8, each * 8);
    }
    const uint32_t sample = GroupsOfSample(tile) * groupLines_, samples = groups / GroupsOfSample(tile);
    if (wantsDbeta_) SumSamples(sums, plain, samples, sample, each * 8);
    if (wantsDgamma_) SumSamples(sums[kTile], spread, samples, sample, each * 8);
    SumsLeave(tile, sums);
    if (!wantsDx_) return;

    MeanOfGroups(plain_, weighedPlain, weighedSpread, groups, groupLines_ * each * 8);
    const Floats shift = plain_, slope = plain_[whole];
    AscendC::Mul(slope, slope, rstd, n);
    AscendC::Mul(slope, slope, rstd, n);
    AscendC::Muls(slope, slope, -1.0f, n);
    AscendC::Mul(shift, shift, rstd, n);
    AscendC::Mul(lack_, lack_, slope, n);
    AscendC::Add(shift, shift, lack_, n);
    AscendC::LocalTensor<T> out = dxQueue_.template AllocTensor<T>();
    Floats dx = dy;
    if constexpr (kIsFloat<T>) dx = out;
    BlocksWithGroups<LineOp::kMul>(scratch_, gamma_, rstd, ofGroups_, groups, groupLines_);
    ApplyToLines<LineOp::kMul>(dy, dy, scratch_, lines, length_, pitch_);
    this->template ForGroups<LineOp::kMul>(x, slope, groups);
    this->template ForGroups<LineOp::kSub>(x, shift, groups);
    AscendC::Add(dx, dy, x, static_cast<int32_t>(elements));
    Narrow(out, dx, elements);
    DxLeaves(tile, out);
  }

  // What this tile adds to dbeta and dgamma of its channels: sums of dy and of dy * xhat, over rows, and samples.
  __aicore__ inline void StoreSums(uint32_t tile, const Floats& dy) {
    const uint32_t lines = GroupsOfSample(tile) * groupLines_, samples = Groups(tile) / GroupsOfSample(tile);
    const Floats sums = sumsQueue_.template AllocTensor<float>();
    if (wantsDbeta_) SumSamples(sums, dy, samples, lines, pitch_);
    if (wantsDgamma_) SumSamples(sums[kTile], product_, samples, lines, pitch_);
    SumsLeave(tile, sums);
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
    const uint32_t whole = (groups + 7) / 8 * 8;
    const Floats slope = plain_[whole];
    MeanOfGroups(plain_, a, product_, groups, width_);
    AscendC::Mul(slope, slope, rstd, static_cast<int32_t>(whole));
    this->template ForGroups<LineOp::kSub>(a, plain_, groups);
    this->template ForGroups<LineOp::kMul>(x, slope, groups);
    AscendC::Sub(a, a, x, n);
    this->template ForGroups<LineOp::kMul>(a, rstd, groups);
    Narrow(out, a, static_cast<uint32_t>(n));
    DxLeaves(tile, out);
  }

  // Where a group is a line, it has one gamma, and all that is done to it are numbers of its own. With D elements, S1 = sum(dy),
  // S2 = sum(dy * (x - mean)) and lack = sum(x - mean) / D: its channel's gradients are S1 and Q = rstd * (S2 - lack * S1), and
  //   dx = A * dy + B * (x - mean) + C,  A = rstd * gamma,  B = -A * rstd * Q / D,  C = -A * S1 / D - B * lack.
  __aicore__ inline void ComputeSingle(uint32_t tile, const AscendC::LocalTensor<T>& in) {
    const uint32_t groups = Groups(tile);
    const int32_t elements = static_cast<int32_t>(short_ ? WholeRepeats(groups) * length_ : groups * width_);
    const int32_t n = static_cast<int32_t>((groups + 7) / 8 * 8);
    const Floats dy = Arrived(wideDy_, in, groups * width_);
    if (LoadsGamma(tile)) Numbers(gammaRow_, in[kGammaPlace], GroupsOfSample(tile));
    Floats x;
    if constexpr (Epilogue::kActivates) {
      Numbers(betaRow_, in[kBetaPlace], GroupsOfSample(tile));
      x = Centred(in, groups);
      ActivateSingle(dy, x, in[kNumbersPlace].template ReinterpretCast<float>()[kMost], groups, elements);
    }
    const Floats plain = plain_, spread = spread_, lack = lack_;
    SumOfEach(plain, dy, groups);
    const Floats sums = sumsQueue_.template AllocTensor<float>();
    const uint32_t samples = groups / GroupsOfSample(tile), sample = (GroupsOfSample(tile) + 7) / 8 * 8;
    if (wantsDbeta_) AddSamples(sums, plain, samples, sample);
    if (!NeedsX()) return SumsLeave(tile, sums);
    if constexpr (!Epilogue::kActivates) x = Centred(in, groups);
    const Floats rstd = in[kNumbersPlace].template ReinterpretCast<float>()[kMost];
    AscendC::Mul(product_, dy, x, elements);
    SumOfEach(spread, product_, groups);
    SumOfEach(lack, x, groups);
    const float count = 1.0f / static_cast<float>(groupElements_);
    AscendC::Muls(lack, lack, count, n);
    AscendC::Mul(slope_, lack, plain, n);
    AscendC::Sub(spread, spread, slope_, n);
    AscendC::Mul(spread, spread, rstd, n);
    if (wantsDgamma_) AddSamples(sums[kTile], spread, samples, sample);
    SumsLeave(tile, sums);
    if (!wantsDx_) return;
    const Floats scale = scale_, slope = slope_, shift = plain;
    AscendC::Mul(scale, rstd, gammaRow_, n);
    AscendC::Mul(slope, scale, spread, n);
    AscendC::Mul(slope, slope, rstd, n);
    AscendC::Muls(slope, slope, -count, n);
    AscendC::Mul(shift, scale, plain, n);
    AscendC::Muls(shift, shift, -count, n);
    AscendC::Mul(lack, lack, slope, n);
    AscendC::Sub(shift, shift, lack, n);
    AscendC::LocalTensor<T> out = dxQueue_.template AllocTensor<T>();
    ForEach<LineOp::kMul>(dy, scale, groups);
    ForEach<LineOp::kMul>(x, slope, groups);
    AscendC::Add(dy, dy, x, elements);
    if constexpr (kIsFloat<T>) {
      ForEach<LineOp::kAdd>(dy, shift, groups);
      AscendC::Adds(out, dy, 0.0f, elements);
    } else {
      ForEach<LineOp::kAdd>(dy, shift, groups);
      Narrow(out, dy, static_cast<uint32_t>(elements));
    }
    DxLeaves(tile, out);
  }

  // As floats, of lines that share blocks with zeros up to a whole repeat.
  __aicore__ inline Floats Arrived(const Floats& space, const AscendC::LocalTensor<T>& from, uint32_t elements) {
    const Floats values = Widen(space, from, elements);
    const uint32_t rest = elements % kRepeat;
    if (!short_ || rest == 0) return values;
    uint64_t behind[2] = {~0ull << rest, 0};
    AscendC::Duplicate(values[elements - rest], 0.0f, behind, uint8_t{1}, 1, 8);
    return values;
  }

  // x of lines that are groups, less their means.
  __aicore__ inline Floats Centred(const AscendC::LocalTensor<T>& in, uint32_t groups) {
    const Floats x = Arrived(wideX_, in[kXPlace], groups * width_);
    ForEach<LineOp::kSub>(x, in[kNumbersPlace].template ReinterpretCast<float>(), groups);
    if (pitch_ == kFloats) ClearBehindLines(x, groups, length_, pitch_);
    return x;
  }

  // gamma, or beta, of each line of the tile.
  __aicore__ inline void Numbers(const Floats& to, const AscendC::LocalTensor<T>& gamma, uint32_t groups) {
    const uint32_t whole = (groups + 7) / 8 * 8;
    if constexpr (kIsFloat<T>) {
      AscendC::Adds(to, gamma, 0.0f, static_cast<int32_t>(whole));
    } else {
      Widen(to, gamma, whole);
    }
    const uint32_t all = wholeSamples_ ? tileGroups_ : groups;
    for (uint32_t have = groups; have < all; have *= 2)
      AscendC::DataCopy(to[have], to, all - have < have ? all - have : have);
  }

  __aicore__ inline uint32_t WholeRepeats(uint32_t lines) const {
    return (lines * length_ + kRepeat - 1) / kRepeat * kRepeat / length_;
  }
  __aicore__ inline void SumOfEach(const Floats& sums, const Floats& values, uint32_t groups) {
    if (!short_) return Sum(sums, values, groups, width_);
    SumShortLines(sums, values, scratch_, WholeRepeats(groups), length_);
  }
  // values = values op number, a number for each group of one line. An addition reaches behind lines, a difference must not.
  template <LineOp op>
  __aicore__ inline void ForEach(const Floats& values, const Floats& numbers, uint32_t groups) {
    const uint32_t repeats = (groups + 7) / 8;
    AscendC::Brcb(scratch_, numbers, static_cast<uint8_t>(repeats), {1, 8});
    if (!short_)
      return ApplyToLines<op>(values, values, scratch_, groups, op == LineOp::kAdd ? pitch_ : length_, pitch_);
    const uint32_t whole = WholeRepeats(groups);
    if (whole > 8 * repeats)
      AscendC::Duplicate(scratch_[repeats * kRepeat], 0.0f, static_cast<int32_t>(whole * 8 - repeats * kRepeat));
    ApplyToShortLines<op>(values, values, scratch_, whole, length_);
  }
};
