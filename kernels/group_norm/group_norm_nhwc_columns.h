// Which channel and which group every float of a period belongs to, for channels-last GroupNorm: sums over the channels of each group,
// numbers of groups spread over their channels, and gamma and beta as a period has them.
//
// A period has `rows` rows of `width` channels of `groups` groups. Both ways are a Gather with a table of byte offsets. To sum, the
// floats of a group are brought under each other: in eight columns a group, or in one where a group has fewer than eight floats.
// What fills up a column points behind the period, where a zero stands. The tables are computed, not looped over: an element of the
// scalar unit would cost as much as a whole instruction.
#pragma once
#include "group_norm_core.h"
#include "../common/common_dtype.h"
#include "group_norm_nhwc_periods.h"
#include "kernel_operator.h"

class GroupNormNhwcColumns {
 public:
  // work and other: buffers of the tiling's workFloats and otherFloats, which every method may overwrite. beta is null where nobody
  // asks for it. Tiling: that of either direction.
  template <class Tiling>
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR gamma, GM_ADDR beta, const __gm__ Tiling* tiling,
                              const AscendC::LocalTensor<float>& work, const AscendC::LocalTensor<float>& other) {
    pipe_ = pipe;
    rows_ = tiling->periodRows;
    longest_ = tiling->periodElements;
    lanes_ = tiling->tableLanes;
    work_ = work;
    other_ = other;
    gammaAt_ = gamma;
    betaAt_ = beta;
    channels_ = tiling->channels;
    pipe->InitBuffer(buffer_, (3 * longest_ + tiling->gatherLanes + 127) / 128 * 512);
    gamma_ = buffer_.Get<float>();
    beta_ = gamma_[longest_];
    spread_ = beta_[longest_];
    gather_ = spread_[longest_];
  }

  // From here on: `groups` groups of `groupWidth` channels each, from channel `first` on. `space`: two periods.
  template <class T>
  __aicore__ inline void Set(uint32_t first, uint32_t groups, uint32_t groupWidth, bool gapless,
                             const AscendC::LocalTensor<float>& space) {
    const bool same = groups == groups_ && groupWidth == groupWidth_;
    if (same && first == first_) return;
    first_ = first;
    groups_ = groups;
    groupWidth_ = groupWidth;
    width_ = groups * groupWidth;
    constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes
    period_ = gapless ? longest_ : (width_ + kBlock - 1) / kBlock * kBlock;
    columns_ = rows_ * groupWidth >= 8 ? 8 : 1;
    pitch_ = columns_ == 8 ? groups * 8 : lanes_;
    gathered_ = (rows_ * groupWidth + columns_ - 1) / columns_;
    if (!same) MakeGatherTable();
    MakeSpreadTable(space);
    LoadAffine<T>(space);
  }

  // sums[group] for all lanes of the table, from `period` floats and eight zeros behind them.
  __aicore__ inline void SumGroups(const AscendC::LocalTensor<float>& sums, const AscendC::LocalTensor<float>& src) {
    AscendC::Gather(work_, src, gather_.ReinterpretCast<uint32_t>(), 0, gathered_ * pitch_);
    FoldPeriods(work_, gathered_, pitch_, 1);
    if (columns_ == 1) return AscendC::Adds(sums, work_, 0.0f, static_cast<int32_t>(lanes_));
    AscendC::Duplicate(sums, 0.0f, static_cast<int32_t>(lanes_));
    const uint32_t whole = groups_ / 8;
    if (whole > 0) AscendC::BlockReduceSum(sums, work_, static_cast<int32_t>(whole), 64, 1, 1, 8);
    if (groups_ % 8 != 0)
      AscendC::BlockReduceSum(sums[whole * 8], work_[whole * 64], 1, static_cast<int32_t>(groups_ % 8 * 8), 1, 1, 8);
  }

  // dst = the number of its group, for each float of a period.
  __aicore__ inline void SpreadGroups(const AscendC::LocalTensor<float>& dst,
                                      const AscendC::LocalTensor<float>& numbers) {
    AscendC::Gather(dst, numbers, spread_.ReinterpretCast<uint32_t>(), 0, period_);
  }

  __aicore__ inline uint32_t Period() const { return period_; }
  __aicore__ inline uint32_t GroupWidth() const { return groupWidth_; }
  __aicore__ inline uint32_t Width() const { return width_; }
  __aicore__ inline const AscendC::LocalTensor<float>& Gamma() const { return gamma_; }
  __aicore__ inline const AscendC::LocalTensor<float>& Beta() const { return beta_; }

 private:
  // dst = src / divisor, rounded down, of whole numbers below four millions: half a unit away from where rounding could matter.
  __aicore__ inline void Quotient(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                  uint32_t divisor, int32_t count) {
    AscendC::Adds(dst, src, 0.5f, count);
    AscendC::Muls(dst, dst, 1.0f / static_cast<float>(divisor), count);
    AscendC::Cast(dst, dst, AscendC::RoundMode::CAST_FLOOR, static_cast<uint32_t>(count));
  }

  // dst = 1 where src >= bound, otherwise 0.
  __aicore__ inline void AtLeast(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                 uint32_t bound, int32_t count) {
    AscendC::Adds(dst, src, 1.0f - static_cast<float>(bound), count);
    AscendC::Maxs(dst, dst, 0.0f, count);
    AscendC::Mins(dst, dst, 1.0f, count);
  }

  __aicore__ inline void ToBytes(const AscendC::LocalTensor<float>& places, int32_t count) {
    AscendC::Muls(places, places, 4.0f, count);
    AscendC::Cast(places.ReinterpretCast<int32_t>(), places, AscendC::RoundMode::CAST_RINT,
                  static_cast<uint32_t>(count));
  }

  // For place p: the v-th float of group g is in row v / groupWidth of the period, in channel g * groupWidth + v % groupWidth.
  __aicore__ inline void MakeGatherTable() {
    const int32_t n = static_cast<int32_t>(gathered_ * pitch_);
    const AscendC::LocalTensor<float>&a = gather_, &v = work_, &g = other_;
    AscendC::CreateVecIndex(a, 0.0f, static_cast<uint32_t>(n));
    Quotient(v, a, pitch_, n);
    AscendC::Axpy(a, v, -static_cast<float>(pitch_), n);  // the column
    if (columns_ == 8) {
      Quotient(g, a, 8, n);
      AscendC::Axpy(a, g, -8.0f, n);
      AscendC::Muls(v, v, 8.0f, n);
      AscendC::Add(v, v, a, n);
    } else {
      AscendC::Adds(g, a, 0.0f, n);
    }
    Quotient(a, v, groupWidth_, n);
    AscendC::Muls(a, a, static_cast<float>(width_ - groupWidth_), n);
    AscendC::Add(a, a, v, n);
    AscendC::Axpy(a, g, static_cast<float>(groupWidth_), n);
    // Behind the last float or the last group: the zero behind the period.
    AtLeast(v, v, rows_ * groupWidth_, n);
    AtLeast(g, g, groups_, n);
    AscendC::Max(v, v, g, n);
    AscendC::Muls(g, a, -1.0f, n);
    AscendC::Adds(g, g, static_cast<float>(period_), n);
    AscendC::Mul(g, g, v, n);
    AscendC::Add(a, a, g, n);
    ToBytes(a, n);
  }

  // The group of each float of a period, and in the first half of `space` its channel: both as byte offsets.
  __aicore__ inline void MakeSpreadTable(const AscendC::LocalTensor<float>& space) {
    const int32_t n = static_cast<int32_t>(period_);
    const AscendC::LocalTensor<float> channel = space, index = space[longest_];
    AscendC::CreateVecIndex(index, 0.0f, period_);
    Quotient(channel, index, width_, n);
    AscendC::Muls(channel, channel, -static_cast<float>(width_), n);
    AscendC::Add(channel, channel, index, n);
    Quotient(spread_, channel, groupWidth_, n);
    ToBytes(spread_, n);
    ToBytes(channel, n);
  }

  // gamma and beta of the channels, once for each row of a period.
  template <class T>
  __aicore__ inline void LoadAffine(const AscendC::LocalTensor<float>& space) {
    AscendC::GlobalTensor<T> gamma, beta;
    gamma.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gammaAt_), channels_);
    beta.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(betaAt_), channels_);
    const AscendC::LocalTensor<uint32_t> channel = space.ReinterpretCast<uint32_t>();
    const AscendC::LocalTensor<float> wide = space[longest_];
    const AscendC::LocalTensor<T> gammaIn = work_.ReinterpretCast<T>();
    const AscendC::LocalTensor<T> betaIn = other_.ReinterpretCast<T>();
    SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(width_ * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> any{false, 0, 0, static_cast<T>(0.0f)};
    AscendC::DataCopyPad(gammaIn, gamma[first_], row, any);
    if (betaAt_ != nullptr) AscendC::DataCopyPad(betaIn, beta[first_], row, any);
    SyncPipes<AscendC::HardEvent::MTE2_V>(pipe_);
    AscendC::Gather(gamma_, Widen(wide, gammaIn, width_), channel, 0, period_);
    if (betaAt_ == nullptr) return;
    AscendC::Gather(beta_, Widen(wide, betaIn, width_), channel, 0, period_);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> other_;
  AscendC::LocalTensor<float> gamma_;
  AscendC::LocalTensor<float> beta_;
  AscendC::LocalTensor<float> spread_;  // tables of byte offsets
  AscendC::LocalTensor<float> gather_;
  GM_ADDR gammaAt_ = nullptr;
  GM_ADDR betaAt_ = nullptr;
  uint32_t channels_ = 0;
  uint32_t rows_ = 0;
  uint32_t longest_ = 0;
  uint32_t first_ = 0;
  uint32_t groups_ = 0;
  uint32_t groupWidth_ = 0;
  uint32_t width_ = 0;
  uint32_t period_ = 0;
  uint32_t lanes_ = 0;     // floats for a number of each group
  uint32_t columns_ = 0;   // of a group, when the floats of a period are ordered by groups,
  uint32_t pitch_ = 0;     // of all groups,
  uint32_t gathered_ = 0;  // and rows of such an order
};
