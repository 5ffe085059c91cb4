// Step 5, the first stage: dx of groups, and the sums of their rows for dgamma and dbeta.
#pragma once
#include "../common/common_dtype.h"
#include "group_norm_backward_affine.h"
#include "group_norm_backward_ranges.h"
#include "group_norm_backward_statistics.h"
#include "group_norm_backward_sums.h"

template <class T, class Epilogue = GroupNormBackwardIdentity>
class GroupNormBackwardGroups : public GroupNormBackwardRanges<T, Epilogue> {
  using Base = GroupNormBackwardRanges<T, Epilogue>;
  using Piece = typename Base::Piece;
  using Range = typename Base::Range;
  using Sums = GroupNormBackwardSums<Base::kPiece, kIsFloat<T>>;

  // dx = dy * gamma * rstd + (x - pivot) * slope + shift. The pivot is the mean; zero where the mean is near zero, seen from the spread:
  // then nothing needs to be subtracted before it is multiplied.
  struct Line {
    float mean;
    float rstd;
    float pivot;
    float slope;
    float shift;
  };

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                              GM_ADDR dx, GM_ADDR workspace, const __gm__ GroupNormBackwardTilingData* tiling,
                              GM_ADDR beta = nullptr) {
    // Banks of local memory are 64 KiB apart: dy as floats and what is read together with it stand before and behind the slots.
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(wideDyBuf_, Base::kPiece * sizeof(float));
      wideDy_ = wideDyBuf_.template Get<float>();
    }
    Base::Init(pipe, dy, x, gamma, dx, tiling, beta);
    // The slots end where bank groups begin; what is read together with dy stands half of them behind, as x does in its slot.
    constexpr uint32_t kHalf = 64, kActivation = Epilogue::kActivates ? kQuotient : 0;
    pipe->InitBuffer(wideBuf_, (kActivation + kHalf + (kIsFloat<T> ? 1 : 2) * Base::kPiece) * sizeof(float));
    quotient_ = wideBuf_.Get<float>();
    product_ = quotient_[kActivation + kHalf];
    wideX_ = product_[kIsFloat<T> ? 0 : Base::kPiece];
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t extra = core < tiling->extraGroups ? core : tiling->extraGroups;
    this->firstGroup_ = core * tiling->groupsPerCore + extra;
    this->lastGroup_ = this->firstGroup_ + tiling->groupsPerCore + (core < tiling->extraGroups ? 1 : 0);
    groupChunks_ = this->groupPieces_ == 0 ? 0 : (this->groupPieces_ - 1) / this->chunkPieces_ + 1;
    sharedGroups_ = tiling->sharedGroups;
    sharedFrom_ = tiling->totalGroups - sharedGroups_;
    chunks_ = sharedGroups_ * groupChunks_;
    firstChunk_ = core * chunks_ / tiling->usedCores;
    lastChunk_ = (core + 1) * chunks_ / tiling->usedCores;
    if (chunks_ > 0) this->share_ = {PieceOfChunk(firstChunk_), PieceOfChunk(lastChunk_)};

    entries_ = tiling->tableEntries;
    saved_.Init(pipe, mean, rstd, tiling->totalGroups, this->firstGroup_,
                this->needsX_ ? this->lastGroup_ : this->firstGroup_);
    __gm__ float* tables = reinterpret_cast<__gm__ float*>(workspace);
    rowsGm_.SetGlobalBuffer(tables, 2 * static_cast<uint64_t>(entries_));
    offsetGm_.SetGlobalBuffer(tables + 2 * static_cast<uint64_t>(entries_), tiling->totalGroups);
    chunksGm_.SetGlobalBuffer(tables + 2 * static_cast<uint64_t>(entries_) + tiling->totalGroups, 3 * chunks_);

    sumsPitch_ = (this->pieceRows_ + 7) / 8 * 8;
    sums_.Init(pipe, sumsPitch_);
    pipe->InitBuffer(rowSumsBuf_, Base::kSlots * 3 * sumsPitch_ * sizeof(float));
    pipe->InitBuffer(offsetBuf_, kOffsets * sizeof(float));
    rowSums_ = rowSumsBuf_.Get<float>();
    offsets_ = offsetBuf_.Get<float>();
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(wideGammaBuf_, (sumsPitch_ + 8) * sizeof(float));
      wideGamma_ = wideGammaBuf_.Get<float>();
    }
    if constexpr (Epilogue::kActivates) affine_.Init(pipe, sumsPitch_);
    offsetsId_ = pipe->AllocEventID<AscendC::HardEvent::MTE3_S>();
  }

  __aicore__ inline void Process() {
    for (uint32_t group = this->firstGroup_; group < this->lastGroup_; ++group) {
      Measure();
      const uint32_t table = range_ % 2;
      if (this->needsX_) {
        sums_.AddChunks(table, groupChunks_, this->Wants(kGroupNormWantDx));
        Line line = line_;
        SyncPipes<AscendC::HardEvent::V_S>(this->pipe_);
        Complete(line, table);
        KeepOffset(group, group + 1 == this->lastGroup_);
        if (this->Wants(kGroupNormWantDx)) Finish(line, line);
      }
      if (!this->Wants(kGroupNormWantDx)) NextRange(0);
    }
    if (sharedGroups_ > 0) SharedGroups();
    if (offsetsLeave_) AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(offsetsId_);
    this->pipe_->template ReleaseEventID<AscendC::HardEvent::MTE3_S>(offsetsId_);
    saved_.Finish();
    Base::Finish();
  }

 private:
  // The number of the piece that a chunk begins with; chunks count through the shared groups.
  __aicore__ inline uint32_t PieceOfChunk(uint32_t chunk) const {
    const uint32_t group = sharedFrom_ + chunk / groupChunks_;
    return group * this->groupPieces_ + chunk % groupChunks_ * this->chunkPieces_;
  }
  // What is left of the range, for its sums. `ahead` pieces of the next range are done when one is finished.
  __aicore__ inline void Measure() {
    this->LoadAhead();
    const Range range = this->RangeOf(range_);
    for (; measured_ < range.end - range.begin; ++measured_) TakePiece(range_, measured_);
  }
  __aicore__ inline void NextRange(uint32_t ahead) {
    measured_ = ahead;
    ++range_;
  }
  __aicore__ inline void TakePiece(uint32_t index, uint32_t number) {
    const uint32_t slot = taken_++ % Base::kSlots;
    const Piece piece = this->Find(this->RangeOf(index).begin + number);
    if (number == 0) entry_ = 0;
    if (number == 0 || piece.group != lineGroup_) line_ = Statistics(piece.group);
    lineGroup_ = piece.group;
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
    MeasurePiece(slot, piece, index % 2);
    if (piece.last) ++entry_;
    if (number >= this->Dropped(index)) return;
    this->ring_.Drop(slot);
    this->LoadAhead();
  }

  __aicore__ inline void MeasurePiece(uint32_t slot, const Piece& piece, uint32_t table) {
    const uint32_t elements = piece.rows * piece.pitch;
    const int32_t n = static_cast<int32_t>(elements);
    const AscendC::LocalTensor<float> sums = rowSums_[slot * 3 * sumsPitch_];
    AscendC::LocalTensor<float> values[3] = {Widen(wideDy_, this->DySlot(slot), elements), product_, product_};
    this->WaitForSums(slot);
    if (!this->needsX_) {
      sums_.OfRows(sums, values, Sums::kPlain, piece.rows, piece.pitch);
    } else {
      const bool far = line_.pivot != 0.0f;
      values[2] = Widen(wideX_, this->XSlot(slot), elements);
      if (far) {
        AscendC::Adds(values[2], values[2], -line_.pivot, n);
        ClearBehindLines(values[2], piece.rows, piece.length, piece.pitch);
      }
      values[0] = Activate(Reaching(slot), values[0], values[2], slot, piece, line_);
      AscendC::Mul(product_, values[0], values[2], n);
      sums_.OfRows(sums, values, far ? Sums::kWithOffset : Sums::kWithSpread, piece.rows, piece.pitch);
      const bool weighed = this->Wants(kGroupNormWantDx);
      AscendC::LocalTensor<float> gamma = sums;
      if (weighed) gamma = Widen(wideGamma_, this->GammaSlot(slot), piece.rows);
      sums_.Join(sums, gamma, piece.rows, weighed, far, piece.first, piece.last, sums_.Column(table, 0)[entry_]);
    }
    wideSlot_ = slot;
    if (entries_ > 0) StoreRowSums(slot, piece, sums);
  }

  // dy as it reaches GroupNorm, from x - pivot. Behind rows dy is zero, and stays it. Blocks of numbers are done with before the activation
  // needs their place.
  __aicore__ inline AscendC::LocalTensor<float> Activate(const AscendC::LocalTensor<float>& to,
                                                         const AscendC::LocalTensor<float>& dy,
                                                         const AscendC::LocalTensor<float>& x, uint32_t slot,
                                                         const Piece& piece, const Line& line) {
    if constexpr (!Epilogue::kActivates) {
      return dy;
    } else {
      const AscendC::LocalTensor<float> scratch = sums_.Scratch();
      affine_.Make(product_, x, this->GammaSlot(slot), this->BetaSlot(slot), line.pivot == 0.0f ? line.mean : 0.0f,
                   line.rstd, piece.rows, piece.pitch, wideGamma_, scratch, Sums::kScratchFloats / 2);
      const uint32_t elements = piece.rows * piece.pitch;
      for (uint32_t at = 0; at < elements; at += kQuotient)
        Epilogue::Apply(to[at], dy[at], product_[at], scratch, quotient_,
                        elements - at < kQuotient ? elements - at : kQuotient);
      return to;
    }
  }
  // Where what an activation makes of dy stays.
  __aicore__ inline AscendC::LocalTensor<float> Reaching(uint32_t slot) const {
    return this->DySlot(slot).template ReinterpretCast<float>();
  }

  // Into the tables of all rows; dgamma needs both, because a sum with x - mean is corrected by the sum of dy.
  __aicore__ inline void StoreRowSums(uint32_t slot, const Piece& piece, const AscendC::LocalTensor<float>& sums) {
    SyncPipes<AscendC::HardEvent::V_MTE3>(this->pipe_);
    const uint32_t bytes = piece.rows * sizeof(float);
    AscendC::DataCopyExtParams both{static_cast<uint16_t>(this->Wants(kGroupNormWantDgamma) ? 2 : 1), bytes,
                                    sumsPitch_ / 8 - (bytes + 31) / 32,
                                    static_cast<uint32_t>(entries_ * sizeof(float) - bytes), 0};
    AscendC::DataCopyPad(rowsGm_[piece.entry], sums, both);
    this->SumsLeave(slot);
  }

  __aicore__ inline Line Statistics(uint32_t group) {
    if (!this->needsX_) return {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    const float mean = saved_.Mean(group), rstd = saved_.Rstd(group);
    const bool near = (mean < 0.0f ? -mean : mean) * rstd <= kNear;
    return {mean, rstd, near ? 0.0f : mean, 0.0f, 0.0f};
  }

  // From the sums of a group of D elements: sum(a), sum(a * (x - mean)) and sum(x - mean) with a = dy * gamma. The last one is not
  // zero: the mean that was saved is rounded to a float, and of data with a mean far above its spread that rounding is a part of the
  // spread. What the mean lacks is sum(x - mean) / D; with it, as with an exact mean,
  //   dx = rstd * (a - E[a] - (x - mean - lack) * rstd^2 * (E[a * (x - mean)] - lack * E[a])).
  // With a pivot of zero in the place of the mean, what the pivot lacks is the mean itself.
  __aicore__ inline void Complete(Line& line, uint32_t which) {
    const float count = static_cast<float>(this->groupElements_);
    lack_ = line.pivot == 0.0f ? line.mean : sums_.Total(which, 2) / count;
    if (!this->Wants(kGroupNormWantDx)) return;
    const float plain = sums_.Total(which, 0) / count;
    line.slope = -line.rstd * line.rstd * line.rstd * (sums_.Total(which, 1) / count - lack_ * plain);
    line.shift = -line.rstd * plain - lack_ * line.slope;
  }

  // What the means lack, for the second stage. Of many groups in one copy: when the tile is full and at the end.
  __aicore__ inline void KeepOffset(uint32_t group, bool last) {
    if (!this->Wants(kGroupNormWantDgamma)) return;
    if (offsetsLeave_) AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(offsetsId_);
    offsetsLeave_ = false;
    offsets_.SetValue(keptOffsets_++, lack_);
    if (keptOffsets_ < kOffsets && !last) return;
    SyncPipes<AscendC::HardEvent::S_MTE3>(this->pipe_);
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(keptOffsets_ * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(offsetGm_[group + 1 - keptOffsets_], offsets_, row);
    AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(offsetsId_);
    offsetsLeave_ = true;
    keptOffsets_ = 0;
  }

  // The second time, for dx. Pieces that stayed first: their slots are the oldest. A range has pieces of one group, or of two.
  __aicore__ inline void Finish(const Line& ofGroup, const Line& ofNext) {
    const Range range = this->RangeOf(range_);
    const uint32_t pieces = range.end - range.begin, again = this->Again(range_);
    const uint32_t before = taken_ - pieces, firstGroup = range.begin / this->groupPieces_;
    uint32_t ahead = 0;
    for (uint32_t step = again; step < pieces + again; ++step) {
      const bool comesAgain = step >= pieces;
      const uint32_t number = comesAgain ? step - pieces : step;
      while (comesAgain && ahead < this->Ahead(range_, number)) TakePiece(range_ + 1, ahead++);
      const uint32_t slot = (comesAgain ? taken_++ : before + number) % Base::kSlots;
      if (comesAgain) AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(slot);
      const Piece piece = this->Find(range.begin + number);
      ComputeDx(slot, piece, comesAgain, piece.group == firstGroup ? ofGroup : ofNext);
      this->Store(slot, piece);
      this->LoadAhead();
    }
    NextRange(ahead);
  }

  // In the place of dy. Where x stayed as floats, it is x - pivot already.
  __aicore__ inline void ComputeDx(uint32_t slot, const Piece& piece, bool again, const Line& line) {
    const uint32_t elements = piece.rows * piece.pitch;
    const int32_t n = static_cast<int32_t>(elements);
    AscendC::LocalTensor<float> dy = wideDy_, x = wideX_;
    const bool measuredLast = !kIsFloat<T> && !again && slot == wideSlot_;  // both are there as floats, less the pivot
    wideSlot_ = Base::kSlots;
    const bool reaches = Epilogue::kActivates && !again;  // dy went through the activation when it was measured
    if (reaches) {
      dy = Reaching(slot);
    } else if (!measuredLast) {
      dy = Widen(wideDy_, this->DySlot(slot), elements);
    }
    if (!measuredLast) {
      x = Widen(wideX_, this->XSlot(slot), elements);
      if (line.pivot != 0.0f && (again || !kIsFloat<T>)) AscendC::Adds(x, x, -line.pivot, n);
      if (again) dy = Activate(dy, dy, x, slot, piece, line);
    }
    TimesGamma(dy, slot, piece, line.rstd);
    AscendC::Muls(product_, x, line.slope, n);
    AscendC::Adds(product_, product_, line.shift, n);
    const AscendC::LocalTensor<float> dx =
        kIsFloat<T> ? dy : wideDy_;  // a half must not be made of a float in its own place
    AscendC::Add(dx, dy, product_, n);
    Narrow(this->DySlot(slot), dx, elements);
  }

  // dy * gamma * rstd.
  __aicore__ inline void TimesGamma(const AscendC::LocalTensor<float>& dy, uint32_t slot, const Piece& piece,
                                    float rstd) {
    const AscendC::LocalTensor<T> gamma = this->GammaSlot(slot);
    if (piece.rows > (piece.length + 63) / 64) {  // many short rows: a block of equal numbers for each
      const AscendC::LocalTensor<float> wide = Widen(wideGamma_, gamma, piece.rows);
      AscendC::Muls(wide, wide, rstd, static_cast<int32_t>(piece.rows));
      AscendC::Brcb(sums_.Scratch(), wide, static_cast<uint8_t>((piece.rows + 7) / 8), {1, 8});
      ApplyToLines<LineOp::kMul>(dy, dy, sums_.Scratch(), piece.rows, piece.length, piece.pitch);
      return;
    }
    for (uint32_t row = 0; row < piece.rows; ++row)
      AscendC::Muls(dy[row * piece.pitch], dy[row * piece.pitch], NumberOf(gamma.GetValue(row)) * rstd,
                    static_cast<int32_t>(piece.length));
  }

  // Groups that all cores divide. A share has no more chunks than a group, so it lies in two groups at most. Each core publishes the
  // sums of its chunks; all meet; each adds up those of the whole group, in the order of the chunks.
  __aicore__ inline void SharedGroups() {
    Measure();
    if (!this->needsX_) return;
    if (firstChunk_ < lastChunk_) {
      SyncPipes<AscendC::HardEvent::V_MTE3>(this->pipe_);
      for (uint32_t kind = FirstKind(); kind < 3; ++kind) {
        AscendC::DataCopyExtParams own{1, static_cast<uint32_t>((lastChunk_ - firstChunk_) * sizeof(float)), 0, 0, 0};
        AscendC::DataCopyPad(chunksGm_[kind * chunks_ + firstChunk_], sums_.Column(range_ % 2, kind), own);
      }
    }
    AscendC::SyncAll();
    if (firstChunk_ == lastChunk_) return;
    const uint32_t first = firstChunk_ / groupChunks_;
    const uint32_t last = (lastChunk_ - 1) / groupChunks_;
    for (uint32_t group = first; group <= last; ++group) FetchChunks(group, group - first);
    this->holdsShare_ = false;
    this->LoadAhead();
    Line ofFirst = Statistics(sharedFrom_ + first);
    Line ofLast = Statistics(sharedFrom_ + last);
    SyncPipes<AscendC::HardEvent::V_S>(this->pipe_);
    // Whoever has the beginning of a group keeps what its mean lacks.
    Complete(ofFirst, 0);
    if (firstChunk_ % groupChunks_ == 0) KeepOffset(sharedFrom_ + first, last == first);
    if (last != first) {
      Complete(ofLast, 1);
      KeepOffset(sharedFrom_ + last, true);
    }
    if (this->Wants(kGroupNormWantDx)) Finish(ofFirst, ofLast);
  }

  __aicore__ inline uint32_t FirstKind() const { return this->Wants(kGroupNormWantDx) ? 0 : 2; }

  __aicore__ inline void FetchChunks(uint32_t group, uint32_t which) {
    AscendC::DataCopyExtParams all{1, static_cast<uint32_t>(groupChunks_ * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> any{false, 0, 0, 0.0f};
    for (uint32_t kind = FirstKind(); kind < 3; ++kind)
      AscendC::DataCopyPad(sums_.Column(which, kind), chunksGm_[kind * chunks_ + group * groupChunks_], all, any);
    // All pieces have been waited for, and none is on its way: the ids of the slots are free.
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(0);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(0);
    sums_.AddChunks(which, groupChunks_, this->Wants(kGroupNormWantDx));
  }

  static constexpr uint32_t kOffsets =
      kIsFloat<T> ? 512 : 128;                 // all that 227 rows of a block of halves leave room for
  static constexpr uint32_t kQuotient = 2048;  // elements of a piece that go through an activation at once
  static constexpr float kNear = 2.0f;         // spreads that a mean may be away from zero
  Sums sums_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> rowSumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideDyBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideGammaBuf_;
  GroupNormBackwardAffine<T> affine_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> offsetBuf_;
  AscendC::LocalTensor<float> rowSums_;
  AscendC::LocalTensor<float> product_;  // dy * (x - mean)
  AscendC::LocalTensor<float> offsets_;
  AscendC::LocalTensor<float> wideDy_;  // a piece as floats, where a slot does not hold floats itself
  AscendC::LocalTensor<float> wideX_;
  AscendC::LocalTensor<float> wideGamma_;
  AscendC::LocalTensor<float> quotient_;
  GroupNormBackwardStatistics saved_;
  AscendC::GlobalTensor<float> rowsGm_;
  AscendC::GlobalTensor<float> offsetGm_;
  AscendC::GlobalTensor<float> chunksGm_;
  uint32_t groupChunks_ = 0;
  uint32_t sharedGroups_ = 0;
  uint32_t sharedFrom_ = 0;
  uint32_t chunks_ = 0;  // of all shared groups
  uint32_t firstChunk_ = 0;
  uint32_t lastChunk_ = 0;
  uint32_t entries_ = 0;
  uint32_t sumsPitch_ = 0;
  uint32_t range_ = 0;     // the range that is worked on,
  uint32_t measured_ = 0;  // how many of its pieces have been measured,
  uint32_t entry_ = 0;     // and into which chunk of the table the next one goes
  uint32_t taken_ = 0;     // pieces that were computed on: the next one's slot
  uint32_t lineGroup_ = 0;
  uint32_t wideSlot_ = Base::kSlots;  // whose dy and x are in wideDy_ and wideX_; kSlots: nobody's
  uint32_t keptOffsets_ = 0;
  Line line_{0.0f, 0.0f, 0.0f, 0.0f, 0.0f};  // of the last group that was measured
  float lack_ = 0.0f;                        // what the mean of the last group lacks
  AscendC::TEventID offsetsId_ = 0;
  bool offsetsLeave_ = false;
};
