// GroupNorm, step 5, the class: what its .cpp says at the top.
#pragma once
#include "group_norm_lines.h"
#include "group_norm_ring.h"

template <class T>
class GroupNormResident : public GroupNormRing<T> {
 protected:
  using Base = GroupNormRing<T>;
  using Piece = typename Base::Piece;
  using Range = typename Base::Range;
  struct Statistics {
    float centre;  // the mean is centre + rest: their sum, rounded, would lose what rest has
    float rest;
    float rstd;
  };

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    Base::Init(pipe, x, gamma, beta, y, tiling);
    eps_ = tiling->eps;
    // Groups firstGroup_ .. lastGroup_ - 1 belong to this core; the first extraGroups cores take one more than the others.
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t extra = core < tiling->extraGroups ? core : tiling->extraGroups;
    firstGroup_ = core * tiling->groupsPerCore + extra;
    lastGroup_ = firstGroup_ + tiling->groupsPerCore + (core < tiling->extraGroups ? 1 : 0);
    groupChunks_ = (this->groupPieces_ + this->chunkPieces_ - 1) / this->chunkPieces_;
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);

    pipe->InitBuffer(workBuf_, (kPiece + 7 * kRepeat) * sizeof(float));
    pipe->InitBuffer(sumsBuf_, 4 * kPiece / 8 * sizeof(float));
    pipe->InitBuffer(tableBuf_, (4 * kTable + kRepeat) * sizeof(float));
    pipe->InitBuffer(statBuf_, 2 * kStatistics * sizeof(float));
    work_ = workBuf_.Get<float>();
    head_ = work_[kPiece];
    small_ = head_[kRepeat];
    smaller_ = small_[kTable / 4];
    centreTile_ = smaller_[kRepeat];
    rootTile_ = centreTile_[8];
    sums_ = sumsBuf_.Get<float>();
    first_ = tableBuf_.Get<float>();
    counts_ = first_[kTable];
    second_ = counts_[kTable];
    pivots_ = second_[kTable];  // Brcb writes eight blocks, where one is wanted
    meanTile_ = statBuf_.GetWithOffset<float>(kStatistics, 0);
    rstdTile_ = statBuf_.GetWithOffset<float>(kStatistics, kStatistics * sizeof(float));
    statisticsId_ = pipe->AllocEventID<AscendC::HardEvent::MTE3_S>();
    AscendC::Duplicate(head_, 0.0f, kRepeat);
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
      const Statistics ofGroup = Combine();
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
    if (groupChunks_ > 1)
      AscendC::Duplicate(first_, 0.0f, 3 * kTable);  // lanes that no chunk writes: a NaN must not reach the next group
    for (uint32_t number = range.begin; number < range.end; ++number) {
      const uint32_t slot = taken_++ % Base::kSlots;
      const Piece piece = this->Find(number);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(slot);
      MeasurePiece(this->slotsTile_[slot * this->slotElements_], piece, entry);
      if (piece.last) ++entry;
      if (number - range.begin < again) {
        this->Drop(slot);
        LoadAhead();
      }
    }
    return before;
  }

  // Sums of x less a pivot, and of its square. The pivot of a chunk is the mean of its first elements, no more than a repeat: near
  // enough for the squares not to cancel, and the sum says exactly how far off it was.
  __aicore__ inline void MeasurePiece(const AscendC::LocalTensor<T>& x, const Piece& piece, uint32_t entry) {
    const AscendC::LocalTensor<float> pivot = pivots_[entry * 8];
    if (piece.first) {
      const uint32_t head = piece.length < kRepeat ? piece.length : kRepeat;
      AscendC::WholeReduceSum(head_, x, static_cast<int32_t>(head), 1, 1, 1, 8);
      AscendC::Muls(head_, head_, 1.0f / static_cast<float>(head), 1);
      AscendC::Brcb(pivot, head_, 1, {1, 8});
    }
    const uint32_t pitch = (piece.length + 7) / 8 * 8;
    const uint32_t lanes = piece.rows * pitch;
    const uint32_t repeats = (lanes + kRepeat - 1) / kRepeat;
    SubtractBlock(work_, x, pivot, lanes);
    ClearBehindLines(work_, piece.rows, piece.length, pitch);
    if (lanes % kRepeat != 0) AscendC::Duplicate(work_[lanes], 0.0f, static_cast<int32_t>(repeats * kRepeat - lanes));

    // Eight sums a repeat, of the values in the first half of sums_, of their squares in the second.
    const AscendC::LocalTensor<float> sums = piece.first ? sums_ : sums_[kPiece / 4];
    uint32_t& before = piece.first ? repeatsOfFirst_ : repeatsOfOther_;
    if (repeats < before) AscendC::Duplicate(sums, 0.0f, kPiece / 4);  // sums of a larger piece are still there
    before = repeats;
    AscendC::BlockReduceSum(sums, work_, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    AscendC::Mul(work_, work_, work_, static_cast<int32_t>(repeats * kRepeat));
    AscendC::BlockReduceSum(sums[kPiece / 8], work_, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    if (!piece.first) AscendC::Add(sums_, sums_, sums, kPiece / 4);

    chunkElements_ = (piece.first ? 0 : chunkElements_) + piece.rows * piece.length;
    if (!piece.last) return;
    AscendC::Duplicate(counts_[entry * 8], static_cast<float>(chunkElements_), 1);
    AscendC::BlockReduceSum(small_, sums_, kPiece / 4 / kRepeat, kRepeat, 1, 1, 8);
    AscendC::WholeReduceSum(first_[entry * 8], small_, kRepeat, 2, 2 * kTable, 1, 8);
  }

  // dst = src - block, the same eight floats for every block of src.
  __aicore__ inline void SubtractBlock(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                       const AscendC::LocalTensor<float>& block, uint32_t lanes) {
    AscendC::SetMaskCount();
    AscendC::SetVectorMask<float, AscendC::MaskMode::COUNTER>(0, lanes);
    AscendC::Sub<float, false>(dst, src, block, AscendC::MASK_PLACEHOLDER, 1, {1, 1, 0, 8, 8, 0});
    AscendC::SetMaskNorm();
    AscendC::ResetMask();
  }

  // Chan's formula for the chunks in the table: sums about the chunks' pivots become
  // sums about the pivot of the first; with e = pivot - centre, of n elements, sum(x - centre) = sum(x - pivot) + n e, and
  // sum((x - centre)^2) = sum((x - pivot)^2) + e (sum(x - pivot) + sum(x - centre)).
  __aicore__ inline void MoveToOnePivot() {
    const int32_t lanes = static_cast<int32_t>(groupChunks_ * 8);
    AscendC::Adds(centreTile_, pivots_, 0.0f, 8);
    SubtractBlock(pivots_, pivots_, centreTile_, groupChunks_ * 8);
    AscendC::Mul(counts_, counts_, pivots_, lanes);
    AscendC::Add(counts_, first_, counts_, lanes);
    AscendC::Add(first_, first_, counts_, lanes);
    AscendC::Mul(first_, first_, pivots_, lanes);
    AscendC::Add(second_, second_, first_, lanes);
    // counts_ and second_ lie one after the other: two sums by the same instructions.
    AscendC::BlockReduceSum(small_, counts_, 2 * kTable / kRepeat, kRepeat, 1, 1, 8);
    AscendC::BlockReduceSum(smaller_, small_, kTable / 4 / kRepeat, kRepeat, 1, 1, 8);
    AscendC::WholeReduceSum(small_, smaller_, kTable / kRepeat, 2, 1, 1, kTable / kRepeat / 8);
  }

  // The statistics of the group whose chunks are in the table.
  __aicore__ inline Statistics Combine() {
    const bool one = groupChunks_ == 1;
    if (!one) MoveToOnePivot();
    this->template Sync<AscendC::HardEvent::V_S>();
    Statistics result;
    const float count = static_cast<float>(this->groupElements_);
    result.centre = (one ? pivots_ : centreTile_).GetValue(0);
    result.rest = (one ? first_ : small_).GetValue(0) / count;
    const float variance = (one ? second_ : small_).GetValue(one ? 0 : 1) / count - result.rest * result.rest;
    result.rstd = ReciprocalRoot((variance < 0.0f ? 0.0f : variance) + eps_);
    return result;
  }

  // 1 / sqrt(value). The scalar unit has no documented square root, so one element takes a detour over the vector unit.
  __aicore__ inline float ReciprocalRoot(float value) {
    rootTile_.SetValue(0, value);
    this->template Sync<AscendC::HardEvent::S_V>();
    AscendC::Sqrt(rootTile_, rootTile_, 1);
    this->template Sync<AscendC::HardEvent::V_S>();
    return 1.0f / rootTile_.GetValue(0);
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

  // y = (x - centre) * scale + (beta - rest * scale) with scale = rstd * gamma, in place.
  __aicore__ inline void NormalisePiece(uint32_t slot, const Piece& piece, const Statistics& of) {
    const AscendC::LocalTensor<float> x = this->slotsTile_[slot * this->slotElements_];
    const uint32_t pitch = (piece.length + 7) / 8 * 8;
    AscendC::Adds(x, x, -of.centre, static_cast<int32_t>(piece.rows * pitch));
    if (piece.rows > (piece.length + kRepeat - 1) / kRepeat) return ScaleLines(slot, piece, of);
    const int32_t n = static_cast<int32_t>(piece.length);
    for (uint32_t row = 0; row < piece.rows; ++row) {
      const float scale = of.rstd * this->Gamma(slot).GetValue(row);
      const float shift = this->Beta(slot).GetValue(row) - of.rest * scale;
      AscendC::Muls(x[row * pitch], x[row * pitch], scale, n);
      AscendC::Adds(x[row * pitch], x[row * pitch], shift, n);
    }
  }

  // The same where rows are many and short: instructions repeat over rows, with a scale and a shift for each.
  __aicore__ inline void ScaleLines(uint32_t slot, const Piece& piece, const Statistics& of) {
    const AscendC::LocalTensor<float> x = this->slotsTile_[slot * this->slotElements_];
    const AscendC::LocalTensor<float> scale = this->Gamma(slot);
    const AscendC::LocalTensor<float> shift = this->Beta(slot);
    const uint32_t pitch = (piece.length + 7) / 8 * 8;
    const uint8_t repeats = static_cast<uint8_t>((piece.rows + 7) / 8);
    AscendC::Muls(scale, scale, of.rstd, static_cast<int32_t>(piece.rows));
    AscendC::Axpy(shift, scale, -of.rest, static_cast<int32_t>(piece.rows));
    AscendC::Brcb(work_, scale, repeats, {1, 8});
    ApplyToLines<LineOp::kMul>(x, x, work_, piece.rows, piece.length, pitch);
    AscendC::Brcb(work_, shift, repeats, {1, 8});
    ApplyToLines<LineOp::kAdd>(x, x, work_, piece.rows, piece.length, pitch);
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
    this->template Sync<AscendC::HardEvent::S_MTE3>();
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

  static constexpr uint32_t kRepeat = 64;                   // floats that the vector unit processes at once
  static constexpr uint32_t kPiece = kGroupNormPiece;       // floats of a piece at most: 64 repeats
  static constexpr uint32_t kTable = 8 * kGroupNormChunks;  // floats of one column of the table: a block per chunk
  static constexpr uint32_t kStatistics = 512;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tableBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> statBuf_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> head_;
  AscendC::LocalTensor<float> small_;
  AscendC::LocalTensor<float> smaller_;
  AscendC::LocalTensor<float> centreTile_;
  AscendC::LocalTensor<float> rootTile_;
  AscendC::LocalTensor<float> sums_;
  AscendC::LocalTensor<float> first_;   // the table of chunks, a block for each: sum of x - pivot,
  AscendC::LocalTensor<float> counts_;  // number of elements,
  AscendC::LocalTensor<float> second_;  // sum of the squares,
  AscendC::LocalTensor<float> pivots_;  // pivot
  AscendC::LocalTensor<float> meanTile_;
  AscendC::LocalTensor<float> rstdTile_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  Range share_{0, 0};  // step 7: a part of groups that several cores divide
  uint32_t firstGroup_ = 0;
  uint32_t lastGroup_ = 0;
  uint32_t groupChunks_ = 0;
  uint32_t chunkElements_ = 0;
  uint32_t repeatsOfFirst_ = kRepeat;  // of the last piece that began a chunk; at the start, as if sums_ were full
  uint32_t repeatsOfOther_ = kRepeat;
  uint32_t taken_ = 0;  // pieces that were computed on: the next one's slot
  uint32_t loadRange_ = 0;
  uint32_t loadStep_ = 0;
  uint32_t keptStatistics_ = 0;
  AscendC::TEventID statisticsId_ = 0;
  bool statisticsLeave_ = false;
  float eps_ = 0.0f;
};
