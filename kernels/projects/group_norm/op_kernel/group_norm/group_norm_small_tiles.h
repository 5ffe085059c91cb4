// The tiles of step 6: where they lie in global memory and in local memory, and how they come and leave. What is computed on them stands
// in group_norm_6_small.h.
#pragma once
#include "group_norm_core.h"
#include "../common/common_dtype.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

template <class T>
class GroupNormSmallTiles {
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
    room_ = GroupNormRoomOf(tiling->channels, tiling->spatial, groups_, tileGroups_, kBlock);
    length_ = room_.length;
    groupLines_ = room_.lines;
    pitch_ = room_.pitch;
    width_ = room_.width;
    // Lines of whole blocks of floats come and leave as they lie in global memory, in one piece, and so do those that share blocks;
    // others each on a block of its own.
    short_ = room_.perBlock > 1;
    step_ = groupLines_ > 1 || pitch_ > kRepeat || short_ ? 1 : pitch_ / kFloats;
    packed_ = short_ || length_ % kFloats == 0;
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

    // Banks of local memory are 64 KiB apart. x as floats stands at the beginning; what one instruction reads or writes together with it
    // in other banks, if there is room, and what it reads 256 bytes further: half the bank groups.
    slotElements_ = (room_.tile * sizeof(T) + kRow - 1) / kRow * kRow / sizeof(T);
    const uint32_t tiles = kGroupNormGap + room_.scratch + room_.sums + 2 * room_.affine;
    if constexpr (kIsFloat<T>) {
      pipe_->InitBuffer(slotsBuf_, kSlots * slotElements_ * sizeof(T));
    } else {
      pipe_->InitBuffer(wideBuf_, (room_.tile * sizeof(float) + kRow - 1) / kRow * kRow);
      pipe_->InitBuffer(affineBuf_, 2 * room_.comes * sizeof(T));
      wide_ = wideBuf_.Get<float>();
    }
    pipe_->InitBuffer(numbersBuf_,
                      (2 * room_.row + 6 * room_.numbers + kGroupNormGroupBlocks) * sizeof(float) + room_.away);
    if constexpr (!kIsFloat<T>) pipe_->InitBuffer(slotsBuf_, kSlots * slotElements_ * sizeof(T));
    pipe_->InitBuffer(tilesBuf_, tiles * sizeof(float));
    slots_ = slotsBuf_.Get<T>();
    scratch_ = tilesBuf_.Get<float>()[kGroupNormGap];
    sums_ = scratch_[room_.scratch];
    gamma_ = sums_[room_.sums];
    beta_ = gamma_[room_.affine];
    gammaRow_ = numbersBuf_.Get<float>();
    betaRow_ = gammaRow_[room_.row];
    pivots_ = betaRow_[room_.row];
    rest_ = pivots_[room_.numbers];
    ones_ = rest_[2 * room_.numbers];
    mean_ = ones_[room_.numbers];
    rstd_ = mean_[room_.numbers];
    ofGroups_ = rstd_[room_.numbers];
    if constexpr (!kIsFloat<T>) {
      gammaIn_ = affineBuf_.Get<T>();
      betaIn_ = gammaIn_[room_.comes];
    } else {
      gammaIn_ = perElement_ ? gamma_ : gammaRow_;
      betaIn_ = perElement_ ? beta_ : betaRow_;
    }
    AscendC::Duplicate(ones_, 1.0f, static_cast<int32_t>(room_.numbers));
  }

 protected:
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
  __aicore__ inline AscendC::DataCopyPadExtParams<T> ZerosBehind(uint32_t lines) const {
    if (!packed_) return {true, 0, static_cast<uint8_t>(pitch_ - length_), static_cast<T>(0.0f)};
    return {true, 0, static_cast<uint8_t>((kBlock - lines * length_ % kBlock) % kBlock), static_cast<T>(0.0f)};
  }

  __aicore__ inline void Load(uint32_t tile) {
    const uint32_t slot = tile % kSlots;
    AscendC::DataCopyPad(slots_[slot * slotElements_], xGm_[static_cast<uint64_t>(FirstGroup(tile)) * groupElements_],
                         CopyOf(Groups(tile) * groupLines_), ZerosBehind(Groups(tile) * groupLines_));
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
    AscendC::DataCopyPadExtParams<T> zeros = ZerosBehind(groups);
    if (!perElement_) {
      copy = {1, static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0};
      zeros = {true, 0, static_cast<uint8_t>((kBlock - length % kBlock) % kBlock), static_cast<T>(0.0f)};
    }
    AscendC::DataCopyPad(gammaIn_, gammaGm_[channel], copy, zeros);
    AscendC::DataCopyPad(betaIn_, betaGm_[channel], copy, zeros);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(kSlots);
  }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  static constexpr uint32_t kSlots = kGroupNormSmallSlots;
  static constexpr uint32_t kRow = 512;               // bytes: tiles begin at the same bank group of local memory
  static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes
  static constexpr uint32_t kFloats = 8;              // floats of 32 bytes
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> slotsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tilesBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> numbersBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> affineBuf_;
  AscendC::LocalTensor<T> slots_;
  AscendC::LocalTensor<T> gammaIn_;  // as they come; for float, where they are used
  AscendC::LocalTensor<T> betaIn_;
  AscendC::LocalTensor<float> wide_;  // a slot as floats, where it does not hold floats itself
  AscendC::LocalTensor<float> scratch_;
  AscendC::LocalTensor<float> sums_;   // of eight, on their way to one
  AscendC::LocalTensor<float> gamma_;  // of several lines a block for each, or an element for each of x
  AscendC::LocalTensor<float> beta_;
  AscendC::LocalTensor<float> ofGroups_;  // a block for each of some groups
  AscendC::LocalTensor<float> gammaRow_;
  AscendC::LocalTensor<float> betaRow_;
  AscendC::LocalTensor<float> pivots_;  // from here on: a number for each group
  AscendC::LocalTensor<float> rest_;    // and behind it the variance
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
  uint32_t step_ = 1;  // blocks from one line's number to the next
  uint32_t slotElements_ = 0;
  GroupNormSmallRoom room_{};
  bool perElement_ = false;
  bool short_ = false;        // lines share blocks
  bool packed_ = false;       // lines follow each other in local memory without a gap
  bool affineStays_ = false;  // every tile begins with a sample: gamma and beta are expanded once
  float eps_ = 0.0f;
};
