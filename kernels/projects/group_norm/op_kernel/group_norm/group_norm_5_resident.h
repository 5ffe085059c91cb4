// GroupNorm, step 5, the class: what its .cpp says at the top.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "group_norm_epilogue.h"
#include "group_norm_moments.h"
#include "group_norm_results.h"
#include "group_norm_ring.h"

template <class T, class Epilogue = GroupNormIdentity>
class GroupNormResident : public GroupNormRing<T> {
 protected:
  using Base = GroupNormRing<T>;
  using Piece = typename Base::Piece;
  using Range = typename Base::Range;
  using Moments = GroupNormMoments<T>;
  using Statistics = typename Moments::Statistics;

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
      Measure();
      Statistics ofGroup;
      const uint32_t table = range_ % 2;
      moments_.Combine(&ofGroup, table, 1, this->groupElements_, eps_);
      results_.Keep(group, ofGroup.centre + ofGroup.rest, ofGroup.rstd, group + 1 == lastGroup_);
      Normalise(&ofGroup);
    }
  }

  // What this core works on, one after the other: its groups, and in step 7 its share of others.
  __aicore__ inline Range RangeOf(uint32_t index) const {
    const uint32_t group = firstGroup_ + index;
    if (group < lastGroup_) return {group * this->groupPieces_, (group + 1) * this->groupPieces_};
    return group == lastGroup_ ? share_ : Range{0, 0};
  }
  // How many pieces of a range do not stay and come again. While ranges follow, kLead slots are left for the first pieces of the next.
  // A share behind groups that come again is measured in between, but for its last kTail pieces: these are measured while the results
  // of the group leave, and stay.
  __aicore__ inline uint32_t Again(uint32_t index) const {
    const Range range = RangeOf(index), next = RangeOf(index + 1);
    const uint32_t pieces = range.end - range.begin;
    if (index > 0 && firstGroup_ + index == lastGroup_ && this->groupPieces_ > Base::kSlots - kLead)
      return pieces < kTail ? 0 : pieces - kTail;
    const uint32_t room = next.begin < next.end ? Base::kSlots - kLead : Base::kSlots;
    return pieces < room ? 0 : pieces - room;
  }
  // How many pieces of the next range have been worked on when piece `number` comes again: evenly spread, kLead in advance.
  __aicore__ inline uint32_t Ahead(uint32_t index, uint32_t number) const {
    const uint32_t most = Again(index + 1), steps = Again(index) - 1;
    if (most <= kLead || number == 0) return most < kLead ? most : kLead;
    const uint32_t more = most - kLead < steps ? most - kLead : steps;
    return kLead + (number * more + steps - 1) / steps;
  }

  // Starts copies while there are free slots: first all pieces of a range, then again those that could not stay. In between come the
  // first pieces of the next range, if these will not stay either: memory delivers while the results of this one leave.
  __aicore__ inline void LoadAhead() {
    while (this->ring_.HasFree()) {
      const Range range = RangeOf(loadRange_);
      const uint32_t pieces = range.end - range.begin, again = Again(loadRange_);
      if (pieces == 0) return;
      if (loadStep_ < pieces) {
        this->Load(range.begin + loadStep_, loadStep_ >= again, loadStep_ >= again);
        ++loadStep_;
      } else if (loadedNext_ < Ahead(loadRange_, loadStep_ - pieces)) {
        this->Load(RangeOf(loadRange_ + 1).begin + loadedNext_, false, false);
        ++loadedNext_;
      } else if (holdsShare_ && firstGroup_ + loadRange_ == lastGroup_) {
        return;
      } else {
        this->Load(range.begin + loadStep_ - pieces, true, false);
        ++loadStep_;
      }
      if (loadStep_ < pieces + again) continue;
      ++loadRange_;
      loadStep_ = loadedNext_;
      loadedNext_ = 0;
    }
  }

  // Fills the table of chunks with what is left of the range.
  __aicore__ inline void Measure() {
    LoadAhead();
    const Range range = RangeOf(range_);
    for (; measured_ < range.end - range.begin; ++measured_) MeasurePiece(range_, measured_);
  }
  __aicore__ inline void MeasurePiece(uint32_t index, uint32_t number) {
    const uint32_t slot = taken_++ % Base::kSlots;
    const Piece piece = this->Find(RangeOf(index).begin + number);
    if (number == 0) entry_ = 0;
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
    if (piece.first) AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(slot);
    wideSlot_ = piece.rows * piece.pitch <= Moments::kPlain ? slot : Base::kSlots;
    moments_.Measure(this->X(slot), piece.rows, piece.length, piece.pitch, piece.first, piece.last, index % 2, entry_);
    if (piece.last) ++entry_;
    if (number >= Again(index)) return;
    this->ring_.Drop(slot);
    LoadAhead();
  }

  // Pieces that stayed first: their slots are the oldest. Those of the first group have their statistics in of[0]; a range may have
  // pieces of a second one, with of[1].
  __aicore__ inline void Normalise(const Statistics* of) {
    const Range range = RangeOf(range_);
    const uint32_t again = Again(range_), firstGroup = range.begin / this->groupPieces_;
    const uint32_t before = taken_ - (range.end - range.begin);
    for (uint32_t number = again; number < range.end - range.begin; ++number) {
      const Piece piece = this->Find(range.begin + number);
      NormalisePiece((before + number) % Base::kSlots, piece, of[piece.group - firstGroup]);
    }
    uint32_t ahead = 0;
    for (uint32_t number = 0; number < again; ++number) {
      while (ahead < Ahead(range_, number)) MeasurePiece(range_ + 1, ahead++);
      const Piece piece = this->Find(range.begin + number);
      const uint32_t slot = taken_++ % Base::kSlots;
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(slot);
      NormalisePiece(slot, piece, of[piece.group - firstGroup]);
    }
    measured_ = ahead;
    ++range_;
  }

  // y = x * scale + (beta - mean * scale) with scale = rstd * gamma. Where the mean is above the spread, both terms would be larger than
  // their sum and cost it digits: then y = (x - centre) * scale + (beta - rest * scale), and mean = centre + rest.
  __aicore__ inline void NormalisePiece(uint32_t slot, const Piece& piece, const Statistics& of) {
    const uint32_t elements = piece.rows * piece.pitch;
    const float mean = of.centre + of.rest;
    const bool near = (mean < 0.0f ? -mean : mean) * of.rstd <= kNear;
    AscendC::LocalTensor<float> y = moments_.Work();
    const float pivot = near ? 0.0f : of.centre;
    if (kIsFloat<T> || slot != wideSlot_ || moments_.LastPivot() != pivot) {
      y = Widen(y, this->X(slot), elements);
      if (pivot != 0.0f) AscendC::Adds(y, y, -pivot, static_cast<int32_t>(elements));
    }
    wideSlot_ = Base::kSlots;
    const float rest = near ? mean : of.rest;
    if (piece.rows > (piece.length + kRepeat - 1) / kRepeat) {
      ScaleLines(y, slot, piece, rest, of.rstd);
    } else {
      ScaleRows(y, slot, piece, rest, of.rstd);
    }
    for (uint32_t at = 0; at < elements; at += Moments::kScratch)
      Epilogue::Apply(y[at], moments_.Scratch(), elements - at < Moments::kScratch ? elements - at : Moments::kScratch);
    Narrow(this->X(slot), y, elements);
    this->Store(slot, piece);
    LoadAhead();
  }

  __aicore__ inline void ScaleRows(const AscendC::LocalTensor<float>& y, uint32_t slot, const Piece& piece, float rest,
                                   float rstd) {
    const AscendC::LocalTensor<T> gamma = this->Gamma(slot);
    const AscendC::LocalTensor<T> beta = this->Beta(slot);
    const int32_t n = static_cast<int32_t>(piece.length);
    for (uint32_t row = 0; row < piece.rows; ++row) {
      const float scale = rstd * NumberOf(gamma.GetValue(row));
      const float shift = NumberOf(beta.GetValue(row)) - rest * scale;
      const AscendC::LocalTensor<float> line = y[row * piece.pitch];
      AscendC::Muls(line, line, scale, n);
      AscendC::Adds(line, line, shift, n);
    }
  }

  // The same where rows are many and short: instructions repeat over rows, with a scale and a shift for each.
  __aicore__ inline void ScaleLines(const AscendC::LocalTensor<float>& y, uint32_t slot, const Piece& piece, float rest,
                                    float rstd) {
    const uint32_t repeats = (piece.rows + 7) / 8;
    const AscendC::LocalTensor<float> blocks = moments_.Scratch();
    const AscendC::LocalTensor<float> space = blocks[repeats * kRepeat];
    const AscendC::LocalTensor<float> scale = Widen(space, this->Gamma(slot), piece.rows);
    const AscendC::LocalTensor<float> shift = Widen(space[repeats * 8], this->Beta(slot), piece.rows);
    AscendC::Muls(scale, scale, rstd, static_cast<int32_t>(piece.rows));
    AscendC::Axpy(shift, scale, -rest, static_cast<int32_t>(piece.rows));
    AscendC::Brcb(blocks, scale, static_cast<uint8_t>(repeats), {1, 8});
    ApplyToLines<LineOp::kMul>(y, y, blocks, piece.rows, piece.length, piece.pitch);
    AscendC::Brcb(blocks, shift, static_cast<uint8_t>(repeats), {1, 8});
    ApplyToLines<LineOp::kAdd>(y, y, blocks, piece.rows, piece.length, piece.pitch);
  }

  __aicore__ inline void Finish() {
    results_.Finish();
    this->ring_.Finish();
  }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  static constexpr float kNear = 2.0f;     // spreads that the mean may be away from zero
  static constexpr uint32_t kLead = 3;
  static constexpr uint32_t kTail = 2;
  Moments moments_;
  GroupNormResults results_;
  Range share_{0, 0};  // step 7: a part of groups that several cores divide
  uint32_t firstGroup_ = 0;
  uint32_t lastGroup_ = 0;
  uint32_t groupChunks_ = 0;
  uint32_t range_ = 0;                // the range that is worked on,
  uint32_t measured_ = 0;             // how many of its pieces have been measured,
  uint32_t entry_ = 0;                // and into which chunk of the table the next one goes
  uint32_t taken_ = 0;                // pieces that came in and were computed on: the next one's slot
  uint32_t wideSlot_ = Base::kSlots;  // whose x is there as floats, less its pivot; kSlots: nobody's
  uint32_t loadRange_ = 0;
  uint32_t loadStep_ = 0;
  uint32_t loadedNext_ = 0;  // pieces of the next range
  bool holdsShare_ = false;  // step 7: no piece of the share comes again before all cores have met
  float eps_ = 0.0f;
};
