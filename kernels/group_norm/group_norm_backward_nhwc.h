// The gradients of GroupNorm of a channels-last tensor, the class of the first two stages: what its .cpp says at the top.
#pragma once
#include "group_norm_backward_nhwc_sums.h"
#include "group_norm_nhwc_places.h"

template <class T>
class GroupNormBackwardNhwc {
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                              GM_ADDR dx, GM_ADDR workspace, const __gm__ GroupNormBackwardNhwcTilingData* tiling) {
    pipe_ = pipe;
    tiling_ = tiling;
    places_.Init(tiling);
    slots_ = tiling->slots;
    lanes_ = tiling->tableLanes;
    wantsDx_ = (tiling->mask & kNhwcWantDx) != 0;
    wantsSums_ = (tiling->mask & (kNhwcWantDgamma | kNhwcWantDbeta)) != 0;
    const uint64_t core = static_cast<uint64_t>(AscendC::GetBlockIdx());
    const uint32_t first = static_cast<uint32_t>(core * tiling->chunks / tiling->usedCores);
    const uint32_t last = static_cast<uint32_t>((core + 1) * tiling->chunks / tiling->usedCores);
    begin_ = places_.PieceOfChunk(first);
    pieces_ = places_.PieceOfChunk(last) - begin_;
    kept_ = pieces_ < slots_ ? pieces_ : slots_;

    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * tiling->groupElements;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dy), elements);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dx), elements);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    const uint64_t records = static_cast<uint64_t>(tiling->chunks) * kKinds * lanes_;
    const uint64_t entries = static_cast<uint64_t>(tiling->lines) * tiling->channels;
    __gm__ float* const floats = reinterpret_cast<__gm__ float*>(workspace);
    recordGm_.SetGlobalBuffer(floats, records);
    plainGm_.SetGlobalBuffer(floats + records, entries);
    spreadGm_.SetGlobalBuffer(floats + records + entries, entries);

    const uint32_t period = tiling->periodElements, piece = tiling->pieceRows / tiling->periodRows * period;
    half_ = (piece + kLine - 1) / kLine * kLine;
    pipe_->InitBuffer(inQueue_, static_cast<uint8_t>(slots_), 2 * half_ * sizeof(T));
    pipe_->InitBuffer(dxQueue_, 2, half_ * sizeof(T));
    pipe_->InitBuffer(outQueue_, 2, (kKinds * lanes_ + 2 * period + 127) / 128 * 512);
    pipe_->InitBuffer(linesQueue_, 1, (2 * period + 127) / 128 * 512);
    pipe_->InitBuffer(workBuf_, (tiling->workFloats + tiling->otherFloats + (piece + 127) / 128 * 128) * sizeof(float));
    work_ = workBuf_.Get<float>();
    const Floats other = work_[tiling->workFloats];
    wide_ = other[tiling->otherFloats];
    columns_.Init(pipe, gamma, nullptr, tiling, work_, other);
    sums_.Init(pipe, &columns_, work_, other, tiling);
  }

  // The first stage: sums of all chunks of this core.
  __aicore__ inline void Measure() {
    const uint32_t again = pieces_ - kept_;
    LoadAhead();
    for (uint32_t step = 0; step < pieces_; ++step) {
      const Piece piece = places_.Find(begin_ + step);
      if (piece.first) Turn(piece);
      if (piece.first) sums_.Begin();
      AscendC::LocalTensor<T> both = inQueue_.template DeQue<T>();
      const uint32_t period = columns_.Period(), count = places_.template Count<T>(piece, columns_.Width());
      const uint32_t whole = (count + period - 1) / period * period;
      if (whole != count) {  // a last period that is not whole is filled up with zeros
        AscendC::Duplicate(work_, 0.0f, static_cast<int32_t>(whole));
        AscendC::Duplicate(wide_, 0.0f, static_cast<int32_t>(whole));
      }
      const Floats x = Widen(work_, both, count);
      Floats dy = Widen(wide_, both[half_], count);
      if constexpr (kIsFloat<T>) {
        if (whole != count) {
          AscendC::Adds(wide_, dy, 0.0f, static_cast<int32_t>(count));
          dy = wide_;
        }
      }
      sums_.Add(x, dy, count);
      if (step < again || !wantsDx_) {
        Free(both);
      } else {
        waiting_[step - again] = both;
      }
      if (piece.last) Publish(piece);
    }
  }

  // The second, when the cores have met: dx, and what each chunk adds to dgamma.
  __aicore__ inline void Apply() {
    const uint32_t again = pieces_ - kept_;
    uint32_t strip = kNone, part = kNone;
    for (uint32_t step = again; step < pieces_ + again; ++step) {
      const Piece piece = places_.Find(begin_ + (step < pieces_ ? step : step - pieces_));
      if (!wantsDx_ && !piece.first) continue;
      if (piece.strip != strip || piece.part != part) {
        Turn(piece);
        if (piece.strip != strip) Combine(piece.strip);
        sums_.Prepare();
        strip = piece.strip;
        part = piece.part;
      }
      if (piece.first && wantsSums_) FinishLines(piece);
      if (!wantsDx_) continue;
      AscendC::LocalTensor<T> both = step < pieces_ ? waiting_[step - again] : inQueue_.template DeQue<T>();
      AscendC::LocalTensor<T> dx = dxQueue_.template AllocTensor<T>();
      const uint32_t count = places_.template Count<T>(piece, columns_.Width());
      const Floats x = Widen(work_, both, count), dy = Widen(wide_, both[half_], count);
      if constexpr (kIsFloat<T>) {
        sums_.Dx(dx, x, dy, count);
      } else {
        sums_.Dx(wide_, x, dy, count);
        Narrow(dx, wide_, count);
      }
      dxQueue_.EnQue(dx);
      Free(both);
      dx = dxQueue_.template DeQue<T>();
      places_.CopyOut(dxGm_, dx, piece);
      dxQueue_.FreeTensor(dx);
    }
  }

 private:
  using Piece = GroupNormNhwcPlaces::Piece;
  using Place = GroupNormNhwcPlaces::Place;
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kKinds = GroupNormBackwardNhwcSums::kKinds;
  static constexpr uint32_t kLine = 512 / sizeof(T);  // elements of a line of the banks

  // Starts copies while there are free slots: first all pieces, then again those that could not stay.
  __aicore__ inline void LoadAhead() {
    const uint32_t steps = wantsDx_ ? 2 * pieces_ - kept_ : pieces_;
    for (; loaded_ < steps && loaded_ - freed_ < slots_; ++loaded_) {
      const Piece piece = places_.Find(begin_ + (loaded_ < pieces_ ? loaded_ : loaded_ - pieces_));
      AscendC::LocalTensor<T> both = inQueue_.template AllocTensor<T>();
      places_.CopyIn(both, xGm_, piece);
      places_.CopyIn(both[half_], dyGm_, piece);
      inQueue_.EnQue(both);
    }
  }
  __aicore__ inline void Free(AscendC::LocalTensor<T>& both) {
    inQueue_.FreeTensor(both);
    ++freed_;
    LoadAhead();
  }

  // The columns of a part, and the statistics of its groups, become those that the vectors of a period are about.
  __aicore__ inline void Turn(const Piece& piece) {
    const Place place = places_.PlaceOf(piece.strip, piece.part);
    columns_.Set<T>(place.channel, place.groups, place.groupWidth, places_.Gapless(), sums_.Space());
    const int32_t lanes = static_cast<int32_t>(lanes_);
    AscendC::Duplicate(sums_.Mean(), 0.0f, lanes);  // the last strip of a sample may have fewer groups
    AscendC::Duplicate(sums_.Rstd(), 0.0f, lanes);
    SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
    const uint32_t at = place.sample * tiling_->groups + place.group;
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(place.groups * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>((8 - place.groups % 8) % 8), 0.0f};
    AscendC::DataCopyPad(sums_.Mean(), meanGm_[at], row, zeros);
    AscendC::DataCopyPad(sums_.Rstd(), rstdGm_[at], row, zeros);
    SyncPipes<AscendC::HardEvent::MTE2_V>(pipe_);
    sums_.SpreadMean();
  }

  // Floats of the lines that a chunk has in a table: those of a period, or of one row, where rows are whole blocks.
  __aicore__ inline uint32_t LineFloats() const { return columns_.Width() * tiling_->recordRows; }
  __aicore__ inline uint64_t LineAt(const Piece& piece) const {
    const Place place = places_.PlaceOf(piece.strip, piece.part);
    const uint64_t chunk = static_cast<uint64_t>(place.sample) * places_.PartChunks() + places_.PartChunk(piece);
    return chunk * tiling_->recordRows * tiling_->channels + place.channel;
  }

  // The chunk that ends: its record, and its lines.
  __aicore__ inline void Publish(const Piece& piece) {
    const uint32_t record = kKinds * lanes_, period = columns_.Period();
    Floats out = outQueue_.template AllocTensor<float>();
    sums_.End(out);
    if (wantsSums_) sums_.Lines(out[record], out[record + period], LinePitch(), Folded());
    outQueue_.EnQue(out);
    out = outQueue_.template DeQue<float>();
    Copy(recordGm_[static_cast<uint64_t>(piece.chunk) * record], out, record);
    if (wantsSums_) {
      Copy(plainGm_[LineAt(piece)], out[record], LineFloats());
      Copy(spreadGm_[LineAt(piece)], out[record + period], LineFloats());
    }
    outQueue_.FreeTensor(out);
  }
  // Rows of a period that are added up to one; then a line is a row, otherwise a period is as many lines as it has rows.
  __aicore__ inline uint32_t Folded() const { return tiling_->periodRows / tiling_->recordRows; }
  __aicore__ inline uint32_t LinePitch() const { return columns_.Period() / Folded(); }

  __aicore__ inline void Copy(const AscendC::GlobalTensor<float>& to, const Floats& from, uint32_t count) {
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(to, from, row);
  }

  // All chunks of a strip, in their order: every core adds up the same numbers in the same way.
  __aicore__ inline void Combine(uint32_t strip) {
    const uint32_t chunks = places_.StripChunks(), count = chunks * kKinds * lanes_;
    SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> whole{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(sums_.Table(), recordGm_[static_cast<uint64_t>(strip) * count], row, whole);
    SyncPipes<AscendC::HardEvent::MTE2_V>(pipe_);
    sums_.Combine(chunks);
  }

  // The lines of d * dy become final ones, where they are.
  __aicore__ inline void FinishLines(const Piece& piece) {
    const uint32_t period = columns_.Period(), count = LineFloats();
    Floats lines = linesQueue_.template AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>((8 - count % 8) % 8), 0.0f};
    AscendC::DataCopyPad(lines, plainGm_[LineAt(piece)], row, zeros);
    AscendC::DataCopyPad(lines[period], spreadGm_[LineAt(piece)], row, zeros);
    linesQueue_.EnQue(lines);
    lines = linesQueue_.template DeQue<float>();
    Floats out = outQueue_.template AllocTensor<float>();
    sums_.Finish(out, lines, lines[period], count);
    linesQueue_.FreeTensor(lines);
    outQueue_.EnQue(out);
    out = outQueue_.template DeQue<float>();
    Copy(spreadGm_[LineAt(piece)], out, count);
    outQueue_.FreeTensor(out);
  }

  AscendC::TPipe* pipe_ = nullptr;
  const __gm__ GroupNormBackwardNhwcTilingData* tiling_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, kNhwcMostSlots> inQueue_;  // of x, then of dy
  AscendC::TQue<AscendC::TPosition::VECIN, 1> linesQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> dxQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  Floats work_;
  Floats wide_;  // a piece of dy as floats
  GroupNormNhwcPlaces places_;
  GroupNormNhwcColumns columns_;
  GroupNormBackwardNhwcSums sums_;
  AscendC::LocalTensor<T> waiting_[kNhwcMostSlots];
  AscendC::GlobalTensor<T> dyGm_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> dxGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<float> recordGm_;
  AscendC::GlobalTensor<float> plainGm_;
  AscendC::GlobalTensor<float> spreadGm_;
  uint32_t slots_ = 0;
  uint32_t lanes_ = 0;
  uint32_t half_ = 0;
  uint32_t begin_ = 0;   // the first piece of this core,
  uint32_t pieces_ = 0;  // how many it has,
  uint32_t kept_ = 0;    // and how many of them, the last ones, stay in local memory
  uint32_t loaded_ = 0;
  uint32_t freed_ = 0;
  bool wantsDx_ = true;
  bool wantsSums_ = true;
};
