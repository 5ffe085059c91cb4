// Step 5, small groups: what the ways of group_norm_backward_small.h have in common. Numbers of channels and of groups meet the lines of a
// tile; sums of lines, of groups and of samples; what leaves.
#pragma once
#include "../common/common_lines.h"
#include "group_norm_backward_small_tiles.h"

template <class T, class Epilogue>
class GroupNormBackwardSmallParts : public GroupNormBackwardSmallTiles<T, Epilogue> {
  using Base = GroupNormBackwardSmallTiles<T, Epilogue>;

 protected:
  using Floats = AscendC::LocalTensor<float>;
  using Base::kTile, Base::kRepeat, Base::sumsQueue_, Base::dxQueue_, Base::ofGroups_, Base::scratch_, Base::gamma_,
      Base::gammaRow_, Base::dxGm_, Base::plainGm_, Base::spreadGm_, Base::wantsDgamma_, Base::wantsDbeta_,
      Base::groups_, Base::channelsPerGroup_, Base::groupElements_, Base::tileGroups_, Base::wholeSamples_,
      Base::unitTiles_, Base::perElement_, Base::length_, Base::pitch_, Base::groupLines_, Base::width_,
      Base::FirstGroup, Base::Groups, Base::GroupsOfSample;

  // A block for each line, or lines like those of x; then the same for further samples. gamma: it, or beta.
  __aicore__ inline void Expand(const Floats& to, const AscendC::LocalTensor<T>& gamma, uint32_t groups) {
    const uint32_t lines = groups * groupLines_;
    const uint32_t sample = lines * (perElement_ ? pitch_ : 8);
    if (!perElement_) {
      const uint32_t whole = (lines + 7) / 8;
      AscendC::Brcb(to, Widen(gammaRow_, gamma, whole * 8), static_cast<uint8_t>(whole), {1, 8});
    } else if constexpr (kIsFloat<T>) {
      AscendC::Adds(to, gamma, 0.0f, static_cast<int32_t>(sample));
    } else {
      Widen(to, gamma, sample);
    }
    const uint32_t all = wholeSamples_ ? tileGroups_ / groups_ * sample : sample;
    for (uint32_t have = sample; have < all; have *= 2)
      AscendC::DataCopy(to[have], to, all - have < have ? all - have : have);
  }

  // sums[i] = sum of the `width` floats of line i; as many as `lines` rounded up to eight are written.
  __aicore__ inline void Sum(const Floats& sums, const Floats& values, uint32_t lines, uint32_t width) {
    SumLines(sums, values, scratch_, kTile / 2, lines, width, width);
  }
  // values = values op number, a number for each group of the tile. What lies behind a line stays as it is, unless a line is a block.
  template <LineOp op>
  __aicore__ inline void ForGroups(const Floats& values, const Floats& numbers, uint32_t groups) {
    if (groupLines_ > 1) {
      BlocksOfGroups(scratch_, numbers, ofGroups_, groups, groupLines_);
      return ApplyToLines<op>(values, values, scratch_, groups * groupLines_, length_, pitch_);
    }
    AscendC::Brcb(scratch_, numbers, static_cast<uint8_t>((groups + 7) / 8), {1, 8});
    ApplyToLines<op>(values, values, scratch_, groups, length_, pitch_);
  }
  // sum(values) / D of each group, which has `width` of them; of two kinds, one behind the other.
  __aicore__ inline void MeanOfGroups(const Floats& means, const Floats& first, const Floats& second, uint32_t groups,
                                      uint32_t width) {
    const uint32_t whole = (groups + 7) / 8 * 8, sums = 2 * whole * ((width + kRepeat - 1) / kRepeat) * 8;
    if (sums <= kTile / 2) {
      const Floats both[2] = {first, second};
      SumLinesOf<2>(means, both, scratch_, kTile / 2, groups, width, width);
    } else {
      Sum(means, first, groups, width);
      Sum(means[whole], second, groups, width);
    }
    AscendC::Muls(means, means, 1.0f / static_cast<float>(groupElements_), static_cast<int32_t>(2 * whole));
  }
  // dst = src op a number of each channel, which Expand has made ready.
  template <LineOp op>
  __aicore__ inline void WithChannels(const Floats& dst, const Floats& src, const Floats& numbers, uint32_t groups) {
    if (perElement_) return BinaryOf<op>(dst, src, numbers, static_cast<int32_t>(groups * width_));
    ApplyToLines<op>(dst, src, numbers, groups * groupLines_, pitch_, pitch_);
  }
  __aicore__ inline void TimesGamma(const Floats& dst, const Floats& src, uint32_t groups) {
    WithChannels<LineOp::kMul>(dst, src, gamma_, groups);
  }

  __aicore__ inline void SumsLeave(uint32_t tile, Floats sums) {
    const uint32_t groups = GroupsOfSample(tile), group = FirstGroup(tile);
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

  // Adds up samples of so many lines, `width` floats each, and then each line, unless that is a group with a number for each channel.
  __aicore__ inline void SumSamples(const Floats& sums, const Floats& values, uint32_t samples, uint32_t lines,
                                    uint32_t width) {
    if (samples == 1 && !perElement_) return Sum(sums, values, lines, width);
    AddSamples(sums, values, samples, lines * width);
    if (!perElement_) Sum(sums, sums, lines, width);
  }

  // sums = the sum of `samples` runs of `size` floats, by halves.
  __aicore__ inline void AddSamples(const Floats& sums, const Floats& values, uint32_t samples, uint32_t size) {
    if (samples == 1) return AscendC::Adds(sums, values, 0.0f, static_cast<int32_t>(size));
    const uint32_t half = samples / 2;
    AscendC::Add(sums, values, values[half * size], static_cast<int32_t>(half * size));
    if (samples % 2 == 1) AscendC::Add(sums, sums, values[2 * half * size], static_cast<int32_t>(size));
    for (uint32_t count = half; count > 1;) {
      const uint32_t some = (count + 1) / 2;
      AscendC::Add(sums, sums, sums[some * size], static_cast<int32_t>((count - some) * size));
      count = some;
    }
  }

  __aicore__ inline void DxLeaves(uint32_t tile, AscendC::LocalTensor<T> out) {
    dxQueue_.EnQue(out);
    out = dxQueue_.template DeQue<T>();
    const uint32_t lines = Groups(tile) * groupLines_;
    const uint32_t rows = length_ == pitch_ ? 1 : lines;
    AscendC::DataCopyExtParams copy{static_cast<uint16_t>(rows),
                                    static_cast<uint32_t>(lines / rows * length_ * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(dxGm_[static_cast<uint64_t>(FirstGroup(tile)) * groupElements_], out, copy);
    dxQueue_.FreeTensor(out);
  }
};
