// GroupNorm, step 6, the class: what its .cpp says at the top.
#pragma once
#include "../common/common_lines.h"
#include "../common/common_short_lines.h"
#include "group_norm_epilogue.h"
#include "group_norm_small_tiles.h"

template <class T, class Epilogue = GroupNormIdentity>
class GroupNormSmall : public GroupNormSmallTiles<T> {
  using Base = GroupNormSmallTiles<T>;
  using Base::Groups, Base::kRepeat, Base::kSlots, Base::kFloats, Base::slots_, Base::gammaIn_, Base::betaIn_,
      Base::wide_, Base::scratch_, Base::sums_, Base::gamma_, Base::beta_, Base::ofGroups_, Base::gammaRow_,
      Base::betaRow_, Base::pivots_, Base::rest_, Base::ones_, Base::mean_, Base::rstd_, Base::groups_,
      Base::groupElements_, Base::tileGroups_, Base::length_, Base::pitch_, Base::groupLines_, Base::width_,
      Base::first_, Base::last_, Base::step_, Base::slotElements_, Base::room_, Base::perElement_, Base::short_,
      Base::affineStays_, Base::eps_, Base::pipe_, Base::Load, Base::Store, Base::LoadAffine;

 public:
  __aicore__ inline void Process() {
    if (first_ == last_) return;
    LoadAffine(first_);
    for (uint32_t tile = first_; tile < last_ && tile < first_ + kSlots; ++tile) Load(tile);
    for (uint32_t tile = first_; tile < last_; ++tile) {
      const uint32_t slot = tile % kSlots;
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      const uint32_t elements = Groups(tile) * width_;
      const AscendC::LocalTensor<float> x = Arrived(slots_[slot * slotElements_], elements);
      Measure(tile, x);
      if (tile == first_ || !affineStays_) ExpandAffine(tile);
      Normalise(tile, x);
      Epilogue::Apply(x, scratch_, elements);
      Narrow(slots_[slot * slotElements_], x, elements);
      if (!affineStays_ && tile + 1 < last_) {
        SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
        LoadAffine(tile + 1);
      }
      Store(tile, slots_[slot * slotElements_]);
      AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(slot);
      if (tile + kSlots < last_) {
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(slot);
        Load(tile + kSlots);
      }
    }
    for (uint32_t tile = last_ - first_ < kSlots ? first_ : last_ - kSlots; tile < last_; ++tile)
      AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(tile % kSlots);
    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(kSlots);
  }

 private:
  // Of lines that share blocks whole repeats are computed on: zeros behind the last one.
  __aicore__ inline AscendC::LocalTensor<float> Arrived(const AscendC::LocalTensor<T>& slot, uint32_t elements) {
    const AscendC::LocalTensor<float> x = Widen(wide_, slot, elements);
    const uint32_t rest = elements % kRepeat;
    if (!short_ || rest == 0) return x;
    uint64_t behind[2] = {~0ull << rest, 0};
    AscendC::Duplicate(x[elements - rest], 0.0f, behind, uint8_t{1}, 1, 8);
    return x;
  }

  // Of several lines a block for each; of a single one numbers, or as many as x has. Then the same for each further sample in the tile.
  __aicore__ inline void ExpandAffine(uint32_t tile) {
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(kSlots);
    const uint32_t lines = (affineStays_ ? groups_ : Groups(tile)) * groupLines_;
    if (perElement_) {
      Widen(gamma_, gammaIn_, lines * pitch_);
      Widen(beta_, betaIn_, lines * pitch_);
      if (!affineStays_) return;
      ForEachSample(gamma_, lines * pitch_, tileGroups_ * pitch_);
      ForEachSample(beta_, lines * pitch_, tileGroups_ * pitch_);
      return;
    }
    Widen(gammaRow_, gammaIn_, (lines + 7) / 8 * 8);
    Widen(betaRow_, betaIn_, (lines + 7) / 8 * 8);
    ExpandRow(gammaRow_, gamma_, lines);
    ExpandRow(betaRow_, beta_, lines);
  }

  __aicore__ inline void ExpandRow(const AscendC::LocalTensor<float>& row, const AscendC::LocalTensor<float>& blocks,
                                   uint32_t lines) {
    const uint32_t all = tileGroups_ * groupLines_;
    const bool single = groupLines_ == 1;
    if (single && (!affineStays_ || lines == all)) return;
    const AscendC::LocalTensor<float> space = single ? scratch_ : blocks;
    AscendC::Brcb(space, row, static_cast<uint8_t>((lines + 7) / 8), {1, 8});
    if (affineStays_) ForEachSample(space, lines * 8, all * 8);
    if (!single) return;
    if (all % 8 != 0) AscendC::Duplicate(space[all * 8], 0.0f, static_cast<int32_t>((8 - all % 8) * 8));
    NumbersOfBlocks(row, space, (all + 7) / 8 * 8);
  }

  __aicore__ inline void ForEachSample(const AscendC::LocalTensor<float>& values, uint32_t sample, uint32_t whole) {
    for (uint32_t have = sample; have < whole; have *= 2)
      AscendC::DataCopy(values[have], values, whole - have < have ? whole - have : have);
  }

  // x less a pivot of each group: the mean of its first elements, a repeat at most. Then the statistics of all groups of the tile at
  // once: mean_, rstd_, and rest_, which is the mean of what x has become.
  __aicore__ inline void Measure(uint32_t tile, const AscendC::LocalTensor<float>& x) {
    const uint32_t groups = Groups(tile);
    const uint32_t numbers = (groups + 7) / 8 * 8;
    const int32_t n = static_cast<int32_t>(numbers);
    const uint32_t head = width_ < kRepeat ? width_ : kRepeat;
    const uint32_t inLine = head % pitch_ < length_ ? head % pitch_ : length_;
    const AscendC::LocalTensor<float> variance = rest_[short_ ? room_.numbers : numbers];
    if (short_) {
      SumShortLines(pivots_, x, sums_, WholeRepeats(groups), length_);
    } else {
      SumLines(pivots_, x, sums_, room_.half, groups, head, width_);
    }
    AscendC::Muls(pivots_, pivots_, 1.0f / static_cast<float>(head / pitch_ * length_ + inLine), n);
    ForGroups<LineOp::kSub>(x, pivots_,
                            groups);  // what lies behind a line is zero, and stays so, unless a line is a block
    if (pitch_ == kFloats) ClearBehindLines(x, groups * groupLines_, length_, pitch_);

    const float count = 1.0f / static_cast<float>(groupElements_);
    if (short_) {
      const uint32_t lines = WholeRepeats(groups);
      SumShortLines(rest_, x, sums_, lines, length_);
      AscendC::Mul(scratch_, x, x, static_cast<int32_t>(lines * length_));
      SumShortLines(variance, scratch_, sums_, lines, length_);
      AscendC::Muls(rest_, rest_, count, n);
      AscendC::Muls(variance, variance, count, n);
    } else {
      AscendC::Mul(scratch_, x, x, static_cast<int32_t>(groups * width_));
      const AscendC::LocalTensor<float> both[2] = {x, scratch_};
      SumLinesOf<2>(rest_, both, sums_, room_.half, groups, width_, width_);
      AscendC::Muls(rest_, rest_, count, 2 * n);
    }
    if (tile > first_) AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(kSlots);
    AscendC::Add(mean_, pivots_, rest_, n);
    AscendC::Mul(rstd_, rest_, rest_, n);
    AscendC::Sub(variance, variance, rstd_, n);
    AscendC::Abs(variance, variance, n);  // of a constant group it may be a rounding below zero
    AscendC::Adds(variance, variance, eps_, n);
    AscendC::Sqrt(variance, variance, n);
    AscendC::Div(rstd_, ones_, variance, n);
  }

  // y = (x - rest) * rstd for each group, * gamma + beta for each channel. Where gamma and beta do not differ inside a line, that is
  // x * scale + shift for each line, with scale = rstd * gamma and shift = beta - rest * scale. What lies behind a line gets a shift as
  // well: no half could hold what intermediate results have left there.
  __aicore__ inline void Normalise(uint32_t tile, const AscendC::LocalTensor<float>& x) {
    const uint32_t groups = Groups(tile);
    const int32_t n = static_cast<int32_t>((groups + 7) / 8 * 8);
    if (perElement_) {
      const int32_t elements = static_cast<int32_t>(groups * width_);
      ForGroups<LineOp::kSub>(x, rest_, groups);
      ForGroups<LineOp::kMul>(x, rstd_, groups);
      AscendC::Mul(x, x, gamma_, elements);
      AscendC::Add(x, x, beta_, elements);
    } else if (groupLines_ == 1) {
      const AscendC::LocalTensor<float> scale = pivots_, shift = rest_;  // both have done their part
      AscendC::Mul(scale, rstd_, gammaRow_, n);
      AscendC::Mul(shift, rest_, scale, n);
      AscendC::Sub(shift, betaRow_, shift, n);
      ForGroups<LineOp::kMul>(x, scale, groups);
      ForGroups<LineOp::kAdd>(x, shift, groups);
    } else {
      const uint32_t lines = groups * groupLines_;
      const AscendC::LocalTensor<float> scale = scratch_, shift = sums_;
      BlocksWithGroups<LineOp::kMul>(scale, gamma_, rstd_, ofGroups_, groups, groupLines_);
      BlocksWithGroups<LineOp::kMul>(shift, scale, rest_, ofGroups_, groups, groupLines_);
      AscendC::Sub(shift, beta_, shift, static_cast<int32_t>(lines * 8));
      ApplyToLines<LineOp::kMul>(x, x, scale, lines, length_, pitch_);
      ApplyToLines<LineOp::kAdd>(x, x, shift, lines, pitch_, pitch_);
    }
  }

  // x = x op number, a number for each group of the tile. An addition reaches behind lines, a difference must not.
  template <LineOp op>
  __aicore__ inline void ForGroups(const AscendC::LocalTensor<float>& x, const AscendC::LocalTensor<float>& numbers,
                                   uint32_t groups) {
    const uint32_t length = op == LineOp::kAdd ? pitch_ : length_;
    if (groupLines_ > 1) {
      BlocksOfGroups(scratch_, numbers, ofGroups_, groups, groupLines_);
      return ApplyToLines<op>(x, x, scratch_, groups * groupLines_, length, pitch_);
    }
    const uint32_t repeats = (groups + 7) / 8;
    AscendC::Brcb(scratch_, numbers, static_cast<uint8_t>(repeats),
                  {static_cast<uint16_t>(step_), static_cast<uint16_t>(8 * step_)});
    if (!short_) return ApplyToLines<op>(x, x, scratch_, groups, length, width_, step_);
    const uint32_t whole = WholeRepeats(groups);
    if (whole > 8 * repeats)
      AscendC::Duplicate(scratch_[repeats * kRepeat], 0.0f, static_cast<int32_t>(whole * 8 - repeats * kRepeat));
    ApplyToShortLines<op>(x, x, scratch_, whole, length_);
  }

  // Lines that share blocks, and what fills their last repeat.
  __aicore__ inline uint32_t WholeRepeats(uint32_t lines) const {
    return (lines * length_ + kRepeat - 1) / kRepeat * kRepeat / length_;
  }
};
