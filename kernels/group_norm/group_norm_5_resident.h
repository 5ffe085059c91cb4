// GroupNorm, step 5, the class: what its .cpp says at the top.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "group_norm_moments.h"
#include "group_norm_ring.h"

template <class T>
class GroupNormResident : public GroupNormRing<T> {
 protected:
  using Base = GroupNormRing<T>;
  using Piece = typename Base::Piece;
  using Range = typename Base::Range;
  using Statistics = GroupNormMoments::Statistics;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    Base::Init(pipe, x, gamma, beta, y, tiling);
    eps_ = tiling->eps;
    const GroupNormShare own = ShareOfCore(tiling);
    firstGroup_ = own.first;
    lastGroup_ = own.last;
    groupChunks_ = (this->groupPieces_ + this->chunkPieces_ - 1) / this->chunkPieces_;
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);

    moments_.Init(pipe, groupChunks_);
    pipe->InitBuffer(statBuf_, 2 * kStatistics * sizeof(float));
    meanTile_ = statBuf_.GetWithOffset<float>(kStatistics, 0);
    rstdTile_ = statBuf_.GetWithOffset<float>(kStatistics, kStatistics * sizeof(float));
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(wideBuf_, this->slotElements_ * sizeof(float));
      wideTile_ = wideBuf_.Get<float>();
    }
    statisticsId_ = pipe->AllocEventID<AscendC::HardEvent::MTE3_S>();
  }

  __aicore__ inline void Process() {
    WholeGroups();
    Finish();
  }

 protected:
  __aicore__ inline void WholeGroups() {
    for (uint32_t group = firstGroup_; group < lastGroup_; ++group) {
      const Range range = GroupRange(group);
      const uint32_t before = Measure(range);
      Statistics ofGroup;
      moments_.Combine(&ofGroup, 1, this->groupElements_, eps_);
      Keep(group, ofGroup, group + 1 == lastGroup_);
      Normalise(range, before, group, ofGroup, ofGroup);
    }
  }

  __aicore__ inline Range GroupRange(uint32_t group) const {
    return {group * this->groupPieces_, (group + 1) * this->groupPieces_};
  }
  __aicore__ inline Range NextRange(uint32_t index) const {
    if (index < lastGroup_ - firstGroup_) return GroupRange(firstGroup_ + index);
    return index == lastGroup_ - firstGroup_ ? share_ : Range{0, 0};
  }

  // Starts copies while there are free slots: first all pieces of a range, then again those that could not stay.
  __aicore__ inline void LoadAhead() {
    while (this->HasFreeSlot()) {
      const Range range = NextRange(loadRange_);
      const uint32_t pieces = range.end - range.begin;
      if (pieces == 0) return;
      const uint32_t again = pieces - this->Kept(range);
      const bool stays = loadStep_ >= again;
      this->Load(range.begin + (loadStep_ < pieces ? loadStep_ : loadStep_ - pieces), stays);
      if (++loadStep_ == pieces + again) {
        ++loadRange_;
        loadStep_ = 0;
      }
    }
  }

  // Fills the table of chunks. Returns how many pieces this core had taken before: the next one's slot.
  __aicore__ inline uint32_t Measure(Range range) {
    const uint32_t before = taken_;
    const uint32_t again = range.end - range.begin - this->Kept(range);
    uint32_t entry = 0;
    LoadAhead();
    moments_.Clear(0);
    for (uint32_t number = range.begin; number < range.end; ++number) {
      const uint32_t slot = taken_++ % Base::kSlots;
      const Piece piece = this->Find(number);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      const uint32_t elements = piece.rows * piece.pitch;
      moments_.Measure(Widen(moments_.Work(), Slot(slot), elements), piece.rows, piece.length, piece.pitch, piece.first,
                       piece.last, entry);
      if (piece.last) ++entry;
      if (number - range.begin < again) {
        this->Drop(slot);
        LoadAhead();
      }
    }
    return before;
  }

  // Pieces that stayed first: their slots are the oldest. A range has pieces of one group, or of two.
  __aicore__ inline void Normalise(Range range, uint32_t before, uint32_t group, const Statistics& ofGroup,
                                   const Statistics& ofNext) {
    const uint32_t pieces = range.end - range.begin;
    const uint32_t again = pieces - this->Kept(range);
    for (uint32_t step = again; step < pieces + again; ++step) {
      const uint32_t slot = (before + step) % Base::kSlots;
      if (step >= pieces) AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(slot);
      const Piece piece = this->Find(range.begin + (step < pieces ? step : step - pieces));
      NormalisePiece(slot, piece, piece.group == group ? ofGroup : ofNext);
      this->Store(slot, piece);
      LoadAhead();
    }
    taken_ = before + pieces + again;
  }

  __aicore__ inline AscendC::LocalTensor<T> Slot(uint32_t slot) const {
    return this->slotsTile_[slot * this->slotElements_];
  }

  // y = (x - centre) * scale + (beta - rest * scale) with scale = rstd * gamma, in place.
  __aicore__ inline void NormalisePiece(uint32_t slot, const Piece& piece, const Statistics& of) {
    const uint32_t elements = piece.rows * piece.pitch;
    const bool lines = piece.rows > (piece.length + kRepeat - 1) / kRepeat;
    // Lines need gamma and beta as tensors, too; otherwise they are numbers of the scalar unit.
    const AscendC::LocalTensor<float> x = Widen(wideTile_, Slot(slot), lines ? this->EndPlace(piece) : elements);
    AscendC::Adds(x, x, -of.centre, static_cast<int32_t>(elements));
    if (lines) {
      ScaleLines(x, piece, of);
    } else {
      ScaleRows(x, slot, piece, of);
    }
    Narrow(Slot(slot), x, elements);
  }

  __aicore__ inline void ScaleRows(const AscendC::LocalTensor<float>& x, uint32_t slot, const Piece& piece,
                                   const Statistics& of) {
    const AscendC::LocalTensor<T> gamma = Slot(slot)[this->GammaPlace(piece)];
    const AscendC::LocalTensor<T> beta = Slot(slot)[this->BetaPlace(piece)];
    const int32_t n = static_cast<int32_t>(piece.length);
    for (uint32_t row = 0; row < piece.rows; ++row) {
      const float scale = of.rstd * NumberOf(gamma.GetValue(row));
      const float shift = NumberOf(beta.GetValue(row)) - of.rest * scale;
      const AscendC::LocalTensor<float> line = x[row * piece.pitch];
      AscendC::Muls(line, line, scale, n);
      AscendC::Adds(line, line, shift, n);
    }
  }

  // The same where rows are many and short: instructions repeat over rows, with a scale and a shift for each.
  __aicore__ inline void ScaleLines(const AscendC::LocalTensor<float>& x, const Piece& piece, const Statistics& of) {
    const AscendC::LocalTensor<float> work = moments_.Work();
    const AscendC::LocalTensor<float> scale = x[this->GammaPlace(piece)];
    const AscendC::LocalTensor<float> shift = x[this->BetaPlace(piece)];
    const uint8_t repeats = static_cast<uint8_t>((piece.rows + 7) / 8);
    AscendC::Muls(scale, scale, of.rstd, static_cast<int32_t>(piece.rows));
    AscendC::Axpy(shift, scale, -of.rest, static_cast<int32_t>(piece.rows));
    AscendC::Brcb(work, scale, repeats, {1, 8});
    ApplyToLines<LineOp::kMul>(x, x, work, piece.rows, piece.length, piece.pitch);
    AscendC::Brcb(work, shift, repeats, {1, 8});
    ApplyToLines<LineOp::kAdd>(x, x, work, piece.rows, piece.length, piece.pitch);
  }

  // Statistics of many groups leave in one copy: when the tile is full and at the end. Before the results of the group, because
  // MTE3 has nothing else to do then.
  __aicore__ inline void Keep(uint32_t group, const Statistics& of, bool last) {
    if (statisticsLeave_) AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(statisticsId_);
    statisticsLeave_ = false;
    meanTile_.SetValue(keptStatistics_, of.centre + of.rest);
    rstdTile_.SetValue(keptStatistics_, of.rstd);
    ++keptStatistics_;
    if (keptStatistics_ < kStatistics && !last) return;
    SyncPipes<AscendC::HardEvent::S_MTE3>(this->pipe_);
    const uint32_t first = group + 1 - keptStatistics_;
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(keptStatistics_ * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[first], meanTile_, row);
    AscendC::DataCopyPad(rstdGm_[first], rstdTile_, row);
    AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(statisticsId_);
    statisticsLeave_ = true;
    keptStatistics_ = 0;
  }

  __aicore__ inline void Finish() {
    if (statisticsLeave_) AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(statisticsId_);
    this->pipe_->template ReleaseEventID<AscendC::HardEvent::MTE3_S>(statisticsId_);
    Base::Finish();
  }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  static constexpr uint32_t kStatistics = 512;
  GroupNormMoments moments_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> statBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::LocalTensor<float> wideTile_;  // a slot as floats, where it does not hold floats itself
  AscendC::LocalTensor<float> meanTile_;
  AscendC::LocalTensor<float> rstdTile_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  Range share_{0, 0};  // step 7: a part of groups that several cores divide
  uint32_t firstGroup_ = 0;
  uint32_t lastGroup_ = 0;
  uint32_t groupChunks_ = 0;
  uint32_t taken_ = 0;  // pieces that were computed on: the next one's slot
  uint32_t loadRange_ = 0;
  uint32_t loadStep_ = 0;
  uint32_t keptStatistics_ = 0;
  AscendC::TEventID statisticsId_ = 0;
  bool statisticsLeave_ = false;
  float eps_ = 0.0f;
};
