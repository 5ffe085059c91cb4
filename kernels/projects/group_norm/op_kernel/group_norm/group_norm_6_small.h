// GroupNorm, step 6, the class: what its .cpp says at the top.
#pragma once
#include "group_norm_core.h"
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "group_norm_epilogue.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

template <class T, class Epilogue = GroupNormIdentity>
class GroupNormSmall {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    pipe_ = pipe;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    groupElements_ = tiling->groupElements;
    tileGroups_ = tiling->tileGroups;
    unitGroups_ = tiling->unitGroups;
    unitTiles_ = (unitGroups_ + tileGroups_ - 1) / tileGroups_;
    eps_ = tiling->eps;
    // A line is a channel; where a channel is a single element, a group. Then gamma and beta differ inside a line.
    perElement_ = tiling->spatial == 1;
    length_ = perElement_ ? channelsPerGroup_ : tiling->spatial;
    groupLines_ = perElement_ ? 1 : channelsPerGroup_;
    // Lines of whole blocks of floats come and leave as they lie in global memory, in one piece; others each on a block of its own.
    packed_ = length_ % kFloats == 0;
    pitch_ = packed_ ? length_ : (length_ + kBlock - 1) / kBlock * kBlock;
    width_ = groupLines_ * pitch_;
    affineStays_ = tileGroups_ % groups_ == 0;

    const GroupNormShare share = ShareOfCore(tiling);
    first_ = share.first;
    last_ = share.last;
    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * groupElements_;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), elements);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->channels);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(beta), tiling->channels);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);

    pipe_->InitBuffer(slotsBuf_, kSlots * kTile * sizeof(T));
    // What one instruction reads together with a tile begins 256 bytes behind: half the bank groups of local memory apart.
    pipe_->InitBuffer(tilesBuf_, (4 * kTile + kHalf) * sizeof(float));
    pipe_->InitBuffer(numbersBuf_, 8 * kMost * sizeof(float));
    pipe_->InitBuffer(ofGroupsBuf_, kBlocksOfGroups * sizeof(float));
    ofGroups_ = ofGroupsBuf_.Get<float>();
    slots_ = slotsBuf_.Get<T>();
    centred_ = tilesBuf_.Get<float>();
    scratch_ = centred_[kTile + kHalf];
    gamma_ = scratch_[kTile];
    beta_ = gamma_[kTile];
    gammaRow_ = numbersBuf_.Get<float>();
    betaRow_ = gammaRow_[kMost];
    if constexpr (!kIsFloat<T>) {
      pipe_->InitBuffer(wideBuf_, kTile * sizeof(float));
      pipe_->InitBuffer(affineBuf_, 2 * kTile * sizeof(T));
      wide_ = wideBuf_.Get<float>();
      gammaIn_ = affineBuf_.Get<T>();
      betaIn_ = gammaIn_[kTile];
    } else {
      gammaIn_ = perElement_ ? gamma_ : gammaRow_;
      betaIn_ = perElement_ ? beta_ : betaRow_;
    }
    pivots_ = betaRow_[kMost];
    rest_ = pivots_[kMost];
    variance_ = rest_[kMost];
    ones_ = variance_[kMost];
    mean_ = ones_[kMost];
    rstd_ = mean_[kMost];
    AscendC::Duplicate(ones_, 1.0f, kMost);
  }

  __aicore__ inline void Process() {
    if (first_ == last_) return;
    LoadAffine(first_);
    for (uint32_t tile = first_; tile < last_ && tile < first_ + kSlots; ++tile) Load(tile);
    for (uint32_t tile = first_; tile < last_; ++tile) {
      const uint32_t slot = tile % kSlots;
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      const uint32_t elements = Groups(tile) * width_;
      const AscendC::LocalTensor<float> x = Widen(wide_, slots_[slot * kTile], elements);
      Measure(tile, x);
      if (tile == first_ || !affineStays_) ExpandAffine(tile);
      Normalise(tile, x);
      Epilogue::Apply(x, scratch_, elements);
      Narrow(slots_[slot * kTile], x, elements);
      if (!affineStays_ && tile + 1 < last_) {
        SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
        LoadAffine(tile + 1);
      }
      Store(tile, slots_[slot * kTile]);
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
  // Tiles count through units: the groups of one sample, or, where whole samples fit into a tile, all groups.
  __aicore__ inline uint32_t FirstGroup(uint32_t tile) const {
    return tile / unitTiles_ * unitGroups_ + tile % unitTiles_ * tileGroups_;
  }
  __aicore__ inline uint32_t Groups(uint32_t tile) const {
    const uint32_t left = unitGroups_ - tile % unitTiles_ * tileGroups_;
    return left < tileGroups_ ? left : tileGroups_;
  }

  // How lines of length_ elements are copied: at once where they are packed.
  __aicore__ inline AscendC::DataCopyExtParams CopyOf(uint32_t lines) const {
    if (packed_) return {1, static_cast<uint32_t>(lines * length_ * sizeof(T)), 0, 0, 0};
    return {static_cast<uint16_t>(lines), static_cast<uint32_t>(length_ * sizeof(T)), 0, 0, 0};
  }
  __aicore__ inline AscendC::DataCopyPadExtParams<T> ZerosBehind() const {
    return {!packed_, 0, static_cast<uint8_t>(pitch_ - length_), static_cast<T>(0.0f)};
  }

  __aicore__ inline void Load(uint32_t tile) {
    const uint32_t slot = tile % kSlots;
    AscendC::DataCopyPad(slots_[slot * kTile], xGm_[static_cast<uint64_t>(FirstGroup(tile)) * groupElements_],
                         CopyOf(Groups(tile) * groupLines_), ZerosBehind());
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(slot);
  }

  __aicore__ inline void Store(uint32_t tile, const AscendC::LocalTensor<T>& y) {
    SyncPipes<AscendC::HardEvent::V_MTE3>(pipe_);
    const uint32_t group = FirstGroup(tile);
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(Groups(tile) * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[group], mean_, row);
    AscendC::DataCopyPad(rstdGm_[group], rstd_, row);
    AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(kSlots);
    AscendC::DataCopyPad(yGm_[static_cast<uint64_t>(group) * groupElements_], y, CopyOf(Groups(tile) * groupLines_));
  }

  // gamma and beta of a tile's channels, or of one sample's: as a row of numbers, or in lines like x.
  __aicore__ inline void LoadAffine(uint32_t tile) {
    const uint32_t groups = affineStays_ ? groups_ : Groups(tile);
    const uint32_t channel = FirstGroup(tile) % groups_ * channelsPerGroup_;
    const uint32_t length = groups * channelsPerGroup_;
    AscendC::DataCopyExtParams copy = CopyOf(groups);
    AscendC::DataCopyPadExtParams<T> zeros = ZerosBehind();
    if (!perElement_) {
      copy = {1, static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0};
      zeros = {true, 0, static_cast<uint8_t>((kBlock - length % kBlock) % kBlock), static_cast<T>(0.0f)};
    }
    AscendC::DataCopyPad(gammaIn_, gammaGm_[channel], copy, zeros);
    AscendC::DataCopyPad(betaIn_, betaGm_[channel], copy, zeros);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(kSlots);
  }

  // A block for each line; then the same for each further sample in the tile.
  __aicore__ inline void ExpandAffine(uint32_t tile) {
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(kSlots);
    const uint32_t lines = (affineStays_ ? groups_ : Groups(tile)) * groupLines_;
    if (perElement_) {
      Widen(gamma_, gammaIn_, lines * pitch_);
      Widen(beta_, betaIn_, lines * pitch_);
    } else {
      Widen(gammaRow_, gammaIn_, (lines + 7) / 8 * 8);
      Widen(betaRow_, betaIn_, (lines + 7) / 8 * 8);
      AscendC::Brcb(gamma_, gammaRow_, static_cast<uint8_t>((lines + 7) / 8), {1, 8});
      AscendC::Brcb(beta_, betaRow_, static_cast<uint8_t>((lines + 7) / 8), {1, 8});
    }
    if (!affineStays_) return;
    const uint32_t sample = lines * (perElement_ ? pitch_ : 8);
    const uint32_t whole = tileGroups_ / groups_ * sample;
    for (uint32_t have = sample; have < whole; have *= 2) {
      const uint32_t more = whole - have < have ? whole - have : have;
      AscendC::DataCopy(gamma_[have], gamma_, more);
      AscendC::DataCopy(beta_[have], beta_, more);
    }
  }

  // centred_ = x - pivot, for each group a pivot of its own: the mean of its first elements, a repeat at most. Then the statistics of
  // all groups of the tile at once: mean_, rstd_, and rest_, which is the mean of centred_.
  __aicore__ inline void Measure(uint32_t tile, const AscendC::LocalTensor<float>& x) {
    const uint32_t groups = Groups(tile);
    const uint32_t lines = groups * groupLines_;
    const int32_t n = static_cast<int32_t>((groups + 7) / 8 * 8);
    const uint32_t head = width_ < 64 ? width_ : 64;
    const uint32_t inLine = head % pitch_ < length_ ? head % pitch_ : length_;
    SumLines(pivots_, x, scratch_, kTile / 2, groups, head, width_);
    AscendC::Muls(pivots_, pivots_, 1.0f / static_cast<float>(head / pitch_ * length_ + inLine), n);
    ForGroups<LineOp::kSub>(centred_, x, pivots_, groups);
    ClearBehindLines(centred_, lines, length_, pitch_);

    const float count = 1.0f / static_cast<float>(groupElements_);
    SumLines(rest_, centred_, scratch_, kTile / 2, groups, width_, width_);
    AscendC::Mul(scratch_, centred_, centred_, static_cast<int32_t>(groups * width_));
    SumLines(variance_, scratch_, x, kTile / 2, groups, width_, width_);  // x is not needed any more
    AscendC::Muls(rest_, rest_, count, n);
    AscendC::Muls(variance_, variance_, count, n);
    if (tile > first_) AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(kSlots);
    AscendC::Add(mean_, pivots_, rest_, n);
    AscendC::Mul(rstd_, rest_, rest_, n);
    AscendC::Sub(variance_, variance_, rstd_, n);
    AscendC::Abs(variance_, variance_, n);  // of a constant group it may be a rounding below zero
    AscendC::Adds(variance_, variance_, eps_, n);
    AscendC::Sqrt(variance_, variance_, n);
    AscendC::Div(rstd_, ones_, variance_, n);
  }

  // y = (centred - rest) * rstd for each group, * gamma + beta for each channel. Where a group has several lines, that is
  // centred * scale + shift for each line, with scale = rstd * gamma and shift = beta - rest * scale. What lies behind a line gets a
  // shift as well: no half could hold what intermediate results have left there.
  __aicore__ inline void Normalise(uint32_t tile, const AscendC::LocalTensor<float>& y) {
    const uint32_t groups = Groups(tile);
    const int32_t n = static_cast<int32_t>(groups * width_);
    if (groupLines_ > 1) {
      const uint32_t lines = groups * groupLines_;
      const int32_t blocks = static_cast<int32_t>(lines * 8);
      const AscendC::LocalTensor<float> scale = y, shift = scratch_;  // y is computed last, line by line
      BlocksOfGroups(scale, rstd_, ofGroups_, groups, groupLines_);
      AscendC::Mul(scale, scale, gamma_, blocks);
      BlocksOfGroups(shift, rest_, ofGroups_, groups, groupLines_);
      AscendC::Mul(shift, shift, scale, blocks);
      AscendC::Sub(shift, beta_, shift, blocks);
      ApplyToLines<LineOp::kMul>(centred_, centred_, scale, lines, length_, pitch_);
      ApplyToLines<LineOp::kAdd>(y, centred_, shift, lines, pitch_, pitch_);
      return;
    }
    ForGroups<LineOp::kSub>(centred_, centred_, rest_, groups);
    ForGroups<LineOp::kMul>(centred_, centred_, rstd_, groups);
    if (perElement_) {
      AscendC::Mul(centred_, centred_, gamma_, n);
      AscendC::Add(y, centred_, beta_, n);
    } else {
      ApplyToLines<LineOp::kMul>(centred_, centred_, gamma_, groups, length_, pitch_);
      ApplyToLines<LineOp::kAdd>(y, centred_, beta_, groups, pitch_, pitch_);
    }
  }

  // dst = src op number, a number for each group of the tile.
  template <LineOp op>
  __aicore__ inline void ForGroups(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                   const AscendC::LocalTensor<float>& numbers, uint32_t groups) {
    if (groupLines_ > 1) {
      BlocksOfGroups(scratch_, numbers, ofGroups_, groups, groupLines_);
      return ApplyToLines<op>(dst, src, scratch_, groups * groupLines_, pitch_, pitch_);
    }
    AscendC::Brcb(scratch_, numbers, static_cast<uint8_t>((groups + 7) / 8), {1, 8});
    ApplyToLines<op>(dst, src, scratch_, groups, width_, width_);
  }

  static constexpr uint32_t kHalf = 64;
  static constexpr uint32_t kSlots = 3;
  static constexpr uint32_t kTile = kIsFloat<T> ? kGroupNormSmallTile : kGroupNormNarrowSmallTile;
  static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes
  static constexpr uint32_t kFloats = 8;              // floats of 32 bytes
  static constexpr uint32_t kMost = kTile / kFloats;  // groups or lines of a tile at most
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> slotsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tilesBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> numbersBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> affineBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> ofGroupsBuf_;
  AscendC::LocalTensor<T> slots_;
  AscendC::LocalTensor<T> gammaIn_;  // as they come; for float, where they are used
  AscendC::LocalTensor<T> betaIn_;
  AscendC::LocalTensor<float> wide_;  // a slot as floats, where it does not hold floats itself
  AscendC::LocalTensor<float> centred_;
  AscendC::LocalTensor<float> scratch_;
  AscendC::LocalTensor<float> gamma_;  // a block for each line, or an element for each of x
  AscendC::LocalTensor<float> beta_;
  AscendC::LocalTensor<float> ofGroups_;  // a block for each of some groups
  AscendC::LocalTensor<float> gammaRow_;
  AscendC::LocalTensor<float> betaRow_;
  AscendC::LocalTensor<float> pivots_;  // from here on: a number for each group
  AscendC::LocalTensor<float> rest_;
  AscendC::LocalTensor<float> variance_;
  AscendC::LocalTensor<float> ones_;
  AscendC::LocalTensor<float> mean_;
  AscendC::LocalTensor<float> rstd_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> betaGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint32_t groups_ = 0;
  uint32_t channelsPerGroup_ = 0;
  uint32_t groupElements_ = 0;
  uint32_t tileGroups_ = 0;
  uint32_t unitGroups_ = 0;
  uint32_t unitTiles_ = 0;
  uint32_t length_ = 0;      // elements of a line
  uint32_t pitch_ = 0;       // and with what fills its last block
  uint32_t groupLines_ = 0;  // lines of a group
  uint32_t width_ = 0;       // groupLines_ * pitch_
  uint32_t first_ = 0;
  uint32_t last_ = 0;
  bool perElement_ = false;
  bool packed_ = false;       // lines follow each other in local memory without a gap
  bool affineStays_ = false;  // every tile begins with a sample: gamma and beta are expanded once
  float eps_ = 0.0f;
};
