// Step 5, small groups: tiles of them, how they lie in global memory and in local memory, and how they come. What is computed on them
// stands in group_norm_backward_small.h.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "group_norm_backward_epilogue.h"
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

template <class T, class Epilogue>
class GroupNormBackwardSmallTiles {
 protected:
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                              GM_ADDR dx, GM_ADDR workspace, const __gm__ GroupNormBackwardTilingData* tiling,
                              GM_ADDR beta = nullptr) {
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
    single_ = !perElement_ && groupLines_ == 1 && (tileGroups_ <= groups_ || groups_ % 8 == 0);
    short_ = GroupNormBackwardIsShort(tiling->spatial, tiling->channels, groups_);
    pitch_ = short_ ? length_ : static_cast<uint32_t>(GroupNormBackwardLinePitch(length_, kBlock));
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
    if constexpr (Epilogue::kActivates) betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(beta), tiling->channels);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    const uint64_t entries = tiling->tableEntries;
    __gm__ float* tables = reinterpret_cast<__gm__ float*>(workspace);
    plainGm_.SetGlobalBuffer(tables, entries);
    spreadGm_.SetGlobalBuffer(tables + entries, entries);

    // What one instruction reads together begins half the bank groups of local memory apart: dy and scratch where they begin, and x, the
    // product, gamma and dx 256 bytes behind.
    constexpr uint32_t kHalf = 64;
    constexpr uint32_t kActivation = Epilogue::kActivates ? kTile : 0;
    constexpr uint32_t tiles = kActivation + (kIsFloat<T> ? 3 * kTile + kHalf : 5 * kTile + 3 * kHalf);
    pipe->InitBuffer(inQueue_, 2, kInBytes);
    pipe->InitBuffer(tilesBuf_, tiles * sizeof(float));
    pipe->InitBuffer(dxQueue_, 1, kTile * sizeof(T));
    pipe->InitBuffer(sumsQueue_, 1, 2 * kTile * sizeof(float));
    pipe->InitBuffer(numbersBuf_, 4 * kMost * sizeof(float));
    pipe->InitBuffer(ofGroupsBuf_, kBlocksOfGroups * sizeof(float));
    ofGroups_ = ofGroupsBuf_.template Get<float>();
    scratch_ = tilesBuf_.template Get<float>();
    near_ = scratch_[kTile + kHalf];
    product_ = near_[kActivation];
    gamma_ = product_[kTile];
    wideDy_ = gamma_[kIsFloat<T> ? 0 : kTile + kHalf];
    wideX_ = wideDy_[kIsFloat<T> ? 0 : kTile + kHalf];
    lack_ = numbersBuf_.template Get<float>();
    plain_ = lack_[kMost];
    slope_ = plain_[kMost];
    gammaRow_ = slope_[kMost];
    spread_ = gamma_;  // where gamma is a row of numbers
    scale_ = spread_[kMost];
    betaRow_ = scale_[kMost];
  }

 protected:
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
  __aicore__ inline bool LoadsGamma(uint32_t tile) const {
    return Epilogue::kActivates || (wantsDx_ && (tile == first_ || !wholeSamples_));
  }
  __aicore__ inline bool NeedsX() const { return Epilogue::kActivates || wantsDx_ || wantsDgamma_; }

  // `lines` rows of `length` elements, each in blocks of its own; rows that fill blocks of floats, or share them, come as one.
  __aicore__ inline void CopyLines(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                   uint32_t lines, uint32_t length) {
    const uint32_t rows = short_ || length % kFloats == 0 ? 1 : lines;
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
      const uint32_t some = GroupsOfSample(tile), channel = group % groups_ * channelsPerGroup_;
      const uint32_t lines = perElement_ ? some : 1, length = perElement_ ? length_ : some * channelsPerGroup_;
      CopyLines(in[kGammaPlace], gammaGm_[channel], lines, length);
      if constexpr (Epilogue::kActivates) CopyLines(in[kBetaPlace], betaGm_[channel], lines, length);
    }
    inQueue_.EnQue(in);
  }

  static constexpr uint32_t kTile = GroupNormBackwardTile(sizeof(T), Epilogue::kActivates);
  static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes
  static constexpr uint32_t kFloats = 8;              // floats of 32 bytes
  static constexpr uint32_t kMost = kTile / kFloats;  // groups or lines of a tile at most
  // What comes in: dy; x; gamma; beta, where dy goes through an activation; mean and rstd as floats.
  static constexpr uint32_t kXPlace = kTile + 8 * kBlock;
  static constexpr uint32_t kGammaPlace = kXPlace + kTile;
  static constexpr uint32_t kBetaPlace = kGammaPlace + kTile;
  static constexpr uint32_t kNumbersPlace = kBetaPlace + (Epilogue::kActivates ? kTile : 0);
  static constexpr uint32_t kInBytes = (kNumbersPlace * sizeof(T) + 2 * kMost * sizeof(float) + 511) / 512 * 512;
  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  AscendC::TQue<AscendC::TPosition::VECIN, 2> inQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> sumsQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> dxQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tilesBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> numbersBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> ofGroupsBuf_;
  Floats ofGroups_;  // a block for each of some groups
  Floats scratch_;
  Floats near_;  // where dy goes through an activation: a tile that begins where product_ does
  Floats product_;
  Floats gamma_;   // a block for each line, or an element for each of x
  Floats wideDy_;  // a tile as floats, where it does not come as floats
  Floats wideX_;
  Floats lack_;  // from here on: a number for each group, or for each line
  Floats plain_;
  Floats slope_;
  Floats spread_;
  Floats scale_;
  Floats gammaRow_;
  Floats betaRow_;
  AscendC::GlobalTensor<T> dyGm_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> dxGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> betaGm_;
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
  bool single_ = false;      // a group is a line: what is known of it are numbers
  bool short_ = false;       // and lines share blocks
  uint32_t length_ = 0;      // elements of a line
  uint32_t pitch_ = 0;       // and with what fills its last block
  uint32_t groupLines_ = 0;  // lines of a group
  uint32_t width_ = 0;       // groupLines_ * pitch_
  uint32_t first_ = 0;
  uint32_t last_ = 0;
};
