// GroupNorm, step 5, the class: what its .cpp says at the top.
#pragma once
#include "group_norm_dtype.h"
#include "group_norm_epilogue.h"
#include "group_norm_lines.h"
#include "group_norm_moments.h"
#include "group_norm_results.h"
#include "group_norm_ring.h"

template <class T, class Epilogue = GroupNormIdentity>
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
    moments_.Init(pipe, groupChunks_);
    results_.Init(pipe, mean, rstd, tiling);
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
      results_.Keep(group, ofGroup.centre + ofGroup.rest, ofGroup.rstd, group + 1 == lastGroup_);
      Normalise(range, before, group, &ofGroup);
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
      this->Load(range.begin + (loadStep_ < pieces ? loadStep_ : loadStep_ - pieces), stays,
                 stays && loadStep_ < pieces);
      if (++loadStep_ == pieces + again) {
        ++loadRange_;
        loadStep_ = 0;
      }
    }
  }

  // Fills the table of chunks, and leaves x - pivot in the slots. Returns how many pieces this core had taken before: the next one's
  // slot.
  __aicore__ inline uint32_t Measure(Range range) {
    const uint32_t before = taken_;
    const uint32_t again = range.end - range.begin - this->Kept(range);
    uint32_t entry = 0;
    LoadAhead();
    for (uint32_t number = range.begin; number < range.end; ++number) {
      const uint32_t slot = taken_++ % Base::kSlots;
      const Piece piece = this->Find(number);
      moments_.Measure(Arrived(slot, piece), piece.rows, piece.length, piece.pitch, piece.first, piece.last, entry);
      if (piece.last) ++entry;
      if (number - range.begin < again) {
        this->Drop(slot);
        LoadAhead();
      }
    }
    return before;
  }

  // Pieces that stayed first: their slots are the oldest. A range has pieces of one group, or of two: `of` both.
  __aicore__ inline void Normalise(Range range, uint32_t before, uint32_t firstGroup, const Statistics* of) {
    const uint32_t pieces = range.end - range.begin;
    const uint32_t again = pieces - this->Kept(range);
    for (uint32_t step = again; step < pieces + again; ++step) {
      const uint32_t slot = (before + step) % Base::kSlots;
      const Piece piece = this->Find(range.begin + (step < pieces ? step : step - pieces));
      const uint32_t which = piece.group - firstGroup;
      if (step >= pieces) moments_.Centre(Arrived(slot, piece), piece.rows * piece.pitch, which, piece.chunk);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(slot);
      // What the mean is above the pivot that x lies about.
      const float rest = of[which].rest - moments_.PivotOffset(of[which], which, piece.chunk);
      NormalisePiece(slot, piece, rest, of[which].rstd);
      this->Store(slot, piece);
      LoadAhead();
    }
    taken_ = before + pieces + again;
  }

  // The x of a slot as floats, once it is there.
  __aicore__ inline AscendC::LocalTensor<float> Arrived(uint32_t slot, const Piece& piece) const {
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
    return Widen(this->Floats(slot), this->Outside(slot), piece.rows * piece.pitch);
  }

  // y = (x - pivot) * scale + (beta - rest * scale) with scale = rstd * gamma, in place: x - pivot is what the slot holds.
  __aicore__ inline void NormalisePiece(uint32_t slot, const Piece& piece, float rest, float rstd) {
    if (piece.rows > (piece.length + kRepeat - 1) / kRepeat) {
      ScaleLines(slot, piece, rest, rstd);
    } else {
      ScaleRows(slot, piece, rest, rstd);
    }
    const uint32_t elements = piece.rows * piece.pitch;
    Epilogue::Apply(this->Floats(slot), moments_.Work()[kRepeat], elements);
    Narrow(this->Outside(slot), this->Floats(slot), elements);
  }

  __aicore__ inline void ScaleRows(uint32_t slot, const Piece& piece, float rest, float rstd) {
    const AscendC::LocalTensor<T> gamma = this->Gamma(slot);
    const AscendC::LocalTensor<T> beta = this->Beta(slot);
    const int32_t n = static_cast<int32_t>(piece.length);
    for (uint32_t row = 0; row < piece.rows; ++row) {
      const float scale = rstd * NumberOf(gamma.GetValue(row));
      const float shift = NumberOf(beta.GetValue(row)) - rest * scale;
      const AscendC::LocalTensor<float> line = this->Floats(slot)[row * piece.pitch];
      AscendC::Muls(line, line, scale, n);
      AscendC::Adds(line, line, shift, n);
    }
  }

  // The same where rows are many and short: instructions repeat over rows, with a scale and a shift for each.
  __aicore__ inline void ScaleLines(uint32_t slot, const Piece& piece, float rest, float rstd) {
    const AscendC::LocalTensor<float> x = this->Floats(slot);
    const uint32_t repeats = (piece.rows + 7) / 8;
    const AscendC::LocalTensor<float> blocks = moments_.Work();
    const AscendC::LocalTensor<float> space = blocks[repeats * kRepeat];
    const AscendC::LocalTensor<float> scale = Widen(space, this->Gamma(slot), piece.rows);
    const AscendC::LocalTensor<float> shift = Widen(space[repeats * 8], this->Beta(slot), piece.rows);
    AscendC::Muls(scale, scale, rstd, static_cast<int32_t>(piece.rows));
    AscendC::Axpy(shift, scale, -rest, static_cast<int32_t>(piece.rows));
    AscendC::Brcb(blocks, scale, static_cast<uint8_t>(repeats), {1, 8});
    ApplyToLines<LineOp::kMul>(x, x, blocks, piece.rows, piece.length, piece.pitch);
    AscendC::Brcb(blocks, shift, static_cast<uint8_t>(repeats), {1, 8});
    ApplyToLines<LineOp::kAdd>(x, x, blocks, piece.rows, piece.length, piece.pitch);
  }

  __aicore__ inline void Finish() {
    results_.Finish();
    Base::Finish();
  }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  GroupNormMoments moments_;
  GroupNormResults results_;
  Range share_{0, 0};  // step 7: a part of groups that several cores divide
  uint32_t firstGroup_ = 0;
  uint32_t lastGroup_ = 0;
  uint32_t groupChunks_ = 0;
  uint32_t taken_ = 0;  // pieces that were computed on: the next one's slot
  uint32_t loadRange_ = 0;
  uint32_t loadStep_ = 0;
  float eps_ = 0.0f;
};
