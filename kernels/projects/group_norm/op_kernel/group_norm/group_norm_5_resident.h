// GroupNorm, step 5, the class: what its .cpp says at the top.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "../common/common_ranges.h"
#include "group_norm_epilogue.h"
#include "group_norm_moments.h"
#include "group_norm_results.h"
#include "group_norm_ring.h"

template <class T, class Epilogue = GroupNormIdentity>
class GroupNormResident : public CommonRanges<GroupNormRing<T>, GroupNormResident<T, Epilogue>> {
 protected:
  friend class CommonRanges<GroupNormRing<T>, GroupNormResident<T, Epilogue>>;
  using Base = GroupNormRing<T>;
  using Piece = typename Base::Piece;
  using Range = typename Base::Range;
  using Moments = GroupNormMoments<T>;
  using Statistics = typename Moments::Statistics;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    eps_ = tiling->eps;
    const GroupNormShare own = ShareOfCore(tiling);
    this->firstGroup_ = own.first;
    this->lastGroup_ = own.last;
    groupChunks_ = (tiling->groupPieces + tiling->chunkPieces - 1) / tiling->chunkPieces;
    moments_.Init(pipe, groupChunks_, tiling->slotElements);
    Base::Init(pipe, x, gamma, beta, y, tiling);
    results_.Init(pipe, mean, rstd, tiling);
  }

  __aicore__ inline void Process() {
    WholeGroups();
    Finish();
  }

 protected:
  __aicore__ inline void WholeGroups() {
    for (uint32_t group = this->firstGroup_; group < this->lastGroup_; ++group) {
      Measure();
      Statistics ofGroup;
      moments_.Reduce(range_ % 2, 1);
      MeasureAhead();
      moments_.Root(&ofGroup, 1, this->groupElements_, eps_);
      MeasureAhead();
      moments_.Complete(&ofGroup, 1);
      results_.Keep(group, ofGroup.centre + ofGroup.rest, ofGroup.rstd, group + 1 == this->lastGroup_);
      Normalise(&ofGroup);
    }
  }

  // How many pieces of a range do not stay and come again. While ranges follow, kLead slots are left for the first pieces of the next.
  // A share behind groups that come again is measured in between, but for its last kTail pieces: these are measured while the results
  // of the group leave, and stay.
  __aicore__ inline uint32_t Again(uint32_t index) const {
    const Range range = this->RangeOf(index), next = this->RangeOf(index + 1);
    const uint32_t pieces = range.end - range.begin;
    if (index > 0 && this->firstGroup_ + index == this->lastGroup_ && this->groupPieces_ > Base::kSlots - this->kLead)
      return pieces < this->kTail ? 0 : pieces - this->kTail;
    const uint32_t room = next.begin < next.end ? Base::kSlots - this->kLead : Base::kSlots;
    return pieces < room ? 0 : pieces - room;
  }
  __aicore__ inline uint32_t Dropped(uint32_t index) const { return Again(index); }

  // Fills the table of chunks with what is left of the range.
  __aicore__ inline void Measure() {
    this->LoadAhead();
    const Range range = this->RangeOf(range_);
    for (; measured_ < range.end - range.begin; ++measured_) MeasurePiece(range_, measured_);
  }
  __aicore__ inline void MeasurePiece(uint32_t index, uint32_t number) {
    const uint32_t slot = taken_++ % Base::kSlots;
    const Piece piece = this->Find(this->RangeOf(index).begin + number);
    if (number == 0) entry_ = 0;
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
    if (piece.first) AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(slot);
    wideSlot_ = piece.rows * piece.pitch <= Moments::kPlain ? slot : Base::kSlots;
    moments_.Measure(this->X(slot), piece.rows, piece.length, piece.pitch, piece.first, piece.last, index % 2, entry_);
    if (piece.last) ++entry_;
    if (number >= Again(index)) return;
    this->ring_.Drop(slot);
    this->LoadAhead();
  }

  // While the scalar unit waits for numbers of this range: a piece of the next one, where both stay, because slots come free in their order.
  // Where so many cores read floats that they wait for the memory, what is normalised should leave first.
  __aicore__ inline void MeasureAhead() {
    if (kIsFloat<T> && AscendC::GetBlockNum() > kFewCores) return;
    const Range next = this->RangeOf(range_ + 1);
    const uint32_t pieces = next.end - next.begin, most = pieces < this->kLead ? pieces : this->kLead;
    if (Again(range_) == 0 && Again(range_ + 1) == 0 && ahead_ < most) MeasurePiece(range_ + 1, ahead_++);
  }

  // Pieces that stayed first: their slots are the oldest. Those of the first group have their statistics in of[0]; a range may have
  // pieces of a second one, with of[1].
  __aicore__ inline void Normalise(const Statistics* of) {
    const Range range = this->RangeOf(range_);
    const uint32_t again = Again(range_), firstGroup = range.begin / this->groupPieces_;
    const uint32_t before = taken_ - ahead_ - (range.end - range.begin);
    for (uint32_t number = again; number < range.end - range.begin; ++number) {
      const Piece piece = this->Find(range.begin + number);
      NormalisePiece((before + number) % Base::kSlots, piece, of[piece.group - firstGroup]);
    }
    for (uint32_t number = 0; number < again; ++number) {
      while (ahead_ < this->Ahead(range_, number)) MeasurePiece(range_ + 1, ahead_++);
      const Piece piece = this->Find(range.begin + number);
      const uint32_t slot = taken_++ % Base::kSlots;
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(slot);
      NormalisePiece(slot, piece, of[piece.group - firstGroup]);
    }
    measured_ = ahead_;
    ahead_ = 0;
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
    this->LoadAhead();
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

  static constexpr uint32_t kRepeat = 64;   // floats that the vector unit processes at once
  static constexpr int64_t kFewCores = 36;  // that the memory keeps up with
  static constexpr float kNear = 2.0f;      // spreads that the mean may be away from zero
  Moments moments_;
  GroupNormResults results_;
  uint32_t groupChunks_ = 0;
  uint32_t range_ = 0;                // the range that is worked on,
  uint32_t measured_ = 0;             // how many of its pieces have been measured,
  uint32_t ahead_ = 0;                // and of those of the next range,
  uint32_t entry_ = 0;                // and into which chunk of the table the next one goes
  uint32_t taken_ = 0;                // pieces that came in and were computed on: the next one's slot
  uint32_t wideSlot_ = Base::kSlots;  // whose x is there as floats, less its pivot; kSlots: nobody's
  float eps_ = 0.0f;
};
