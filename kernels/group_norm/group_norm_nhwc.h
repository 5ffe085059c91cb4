// GroupNorm of a channels-last tensor, the class: what its .cpp says at the top.
//
// A core works on runs of pieces: those of a strip of its own, or its share of the strips that all cores divide. Each run is read once
// for its statistics; its last pieces stay in local memory and are normalised first, those before them come a second time.
#pragma once
#include "group_norm_epilogue.h"
#include "group_norm_nhwc_moments.h"
#include "group_norm_nhwc_places.h"

// Epilogue: what is done to the results before they leave, see group_norm_epilogue.h.
template <class T, class Epilogue>
class GroupNormNhwcWith {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, GM_ADDR workspace, const __gm__ GroupNormNhwcTilingData* tiling) {
    pipe_ = pipe;
    tiling_ = tiling;
    slots_ = tiling->slots;
    lanes_ = tiling->tableLanes;
    places_.Init(tiling);
    stripPieces_ = places_.StripPieces();
    stripChunks_ = places_.StripChunks();
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t extra = core < tiling->extraStrips ? core : tiling->extraStrips;
    firstStrip_ = core * tiling->stripsPerCore + extra;
    lastStrip_ = firstStrip_ + tiling->stripsPerCore + (core < tiling->extraStrips ? 1 : 0);
    const uint32_t samples = tiling->totalGroups / tiling->groups;
    sharedFrom_ = samples * tiling->sampleStrips - tiling->sharedStrips;
    const uint32_t shared = tiling->sharedStrips * stripChunks_;
    firstChunk_ = static_cast<uint32_t>(static_cast<uint64_t>(core) * shared / tiling->usedCores);
    lastChunk_ = static_cast<uint32_t>((static_cast<uint64_t>(core) + 1) * shared / tiling->usedCores);

    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * tiling->groupElements;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), elements);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    tableGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace), tiling->workspaceBytes / sizeof(float));
    const uint32_t piece = tiling->pieceRows / tiling->periodRows * tiling->periodElements * sizeof(T);
    const uint32_t slot = (piece + 511) / 512 * 512;  // whole lines of the banks
    pipe_->InitBuffer(xQueue_, static_cast<uint8_t>(slots_), slot);
    pipe_->InitBuffer(yQueue_, 2, slot);
    pipe_->InitBuffer(resultQueue_, 1, (2 * lanes_ + 127) / 128 * 512);
    pipe_->InitBuffer(workBuf_, (tiling->workFloats + tiling->otherFloats) * sizeof(float));
    const AscendC::LocalTensor<float> work = workBuf_.Get<float>();
    columns_.Init(pipe, gamma, beta, tiling, work, work[tiling->workFloats]);
    moments_.Init(pipe, &columns_, work, work[tiling->workFloats], tiling);
  }

  __aicore__ inline void Process() {
    for (uint32_t strip = firstStrip_; strip < lastStrip_; ++strip) {
      const Run run = NextRun(strip - firstStrip_);
      Measure(run, strip * stripChunks_);
      moments_.Combine(stripChunks_, CountOf{&places_, strip});
      WriteResults(strip);
      strip_ = strip;
      Normalise(run);
    }
    if (tiling_->sharedStrips == 0) return;
    const Run share = NextRun(lastStrip_ - firstStrip_);
    Measure(share, sharedFrom_ * stripChunks_ + firstChunk_);
    PublishTables();
    AscendC::SyncAll();
    strip_ = kNone;
    Normalise(share);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  using Piece = GroupNormNhwcPlaces::Piece;
  using Place = GroupNormNhwcPlaces::Place;

  // Pieces begin .. end - 1; they count through the pieces of all strips.
  struct Run {
    uint32_t begin;
    uint32_t end;
  };
  struct CountOf {  // elements of each group in a chunk of a strip
    const GroupNormNhwcPlaces* places;
    uint32_t strip;
    __aicore__ inline uint32_t operator()(uint32_t chunk) const { return places->CountOf(strip, chunk); }
  };

  // The run after `index` others of this core: its strips, then its share.
  __aicore__ inline Run NextRun(uint32_t index) const {
    const uint32_t strip = firstStrip_ + index;
    if (strip < lastStrip_) return {strip * stripPieces_, (strip + 1) * stripPieces_};
    return strip == lastStrip_ ? Run{PieceOfChunk(firstChunk_), PieceOfChunk(lastChunk_)} : Run{0, 0};
  }
  // Of the shared strips.
  __aicore__ inline uint32_t PieceOfChunk(uint32_t chunk) const {
    return sharedFrom_ * stripPieces_ + places_.PieceOfChunk(chunk);
  }
  __aicore__ inline uint32_t Kept(Run run) const {
    const uint32_t pieces = run.end - run.begin;
    return pieces < slots_ ? pieces : slots_;
  }

  // Starts copies while there are free slots: first all pieces of a run, then again those that could not stay.
  __aicore__ inline void LoadAhead() {
    while (loaded_ - freed_ < slots_) {
      const Run run = NextRun(loadRun_);
      const uint32_t pieces = run.end - run.begin;
      if (pieces == 0) return;
      Load(places_.Find(run.begin + (loadStep_ < pieces ? loadStep_ : loadStep_ - pieces)));
      if (++loadStep_ == 2 * pieces - Kept(run)) {
        ++loadRun_;
        loadStep_ = 0;
      }
    }
  }

  __aicore__ inline void Load(const Piece& piece) {
    AscendC::LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    places_.CopyIn(x, xGm_, piece);
    xQueue_.EnQue(x);
    ++loaded_;
  }

  __aicore__ inline void Free(AscendC::LocalTensor<T>& x) {
    xQueue_.FreeTensor(x);
    ++freed_;
    LoadAhead();
  }

  // The columns of a part become those that the vectors of a period are about. Returns elements of a piece of so many rows.
  __aicore__ inline void Turn(const Place& place) {
    columns_.Set<T>(place.channel, place.groups, place.groupWidth, places_.Gapless(), moments_.Space());
  }

  // Fills the tables; row 0 is for chunk `first`.
  __aicore__ inline void Measure(Run run, uint32_t first) {
    const uint32_t again = run.end - run.begin - Kept(run);
    LoadAhead();
    for (uint32_t number = run.begin; number < run.end; ++number) {
      const Piece piece = places_.Find(number);
      if (piece.first) Turn(places_.PlaceOf(piece.strip, piece.part));
      AscendC::LocalTensor<T> x = xQueue_.template DeQue<T>();
      const uint32_t count = places_.template Count<T>(piece, columns_.Width());
      moments_.Clear(count);
      moments_.Measure(Widen(moments_.Work(), x, count), piece.rows, count, piece.first, piece.last,
                       piece.chunk - first);
      if (number - run.begin < again) {
        Free(x);
      } else {
        kept_[number - run.begin - again] = x;
      }
    }
  }

  __aicore__ inline void Normalise(Run run) {
    const uint32_t pieces = run.end - run.begin, again = pieces - Kept(run);
    uint32_t strip = kNone, part = kNone;
    for (uint32_t step = again; step < pieces + again; ++step) {
      const Piece piece = places_.Find(run.begin + (step < pieces ? step : step - pieces));
      if (piece.strip != strip || piece.part != part) {
        if (piece.strip != strip_) CombineShared(piece.strip);
        Turn(places_.PlaceOf(piece.strip, piece.part));
        moments_.Prepare();
        strip = piece.strip;
        part = piece.part;
      }
      AscendC::LocalTensor<T> x = step < pieces ? kept_[step - again] : xQueue_.template DeQue<T>();
      AscendC::LocalTensor<T> y = yQueue_.template AllocTensor<T>();
      const uint32_t count = places_.template Count<T>(piece, columns_.Width());
      const AscendC::LocalTensor<float> wide = Widen(moments_.Work(), x, count);
      if constexpr (kIsFloat<T>) {
        moments_.Normalise<Epilogue>(y, wide, count);
      } else {
        moments_.Normalise<Epilogue>(wide, wide, count);
        Narrow(y, wide, count);
      }
      yQueue_.EnQue(y);
      Free(x);
      Store(piece);
    }
  }

  __aicore__ inline void Store(const Piece& piece) {
    AscendC::LocalTensor<T> y = yQueue_.template DeQue<T>();
    places_.CopyOut(yGm_, y, piece);
    yQueue_.FreeTensor(y);
  }

  __aicore__ inline void WriteResults(uint32_t strip) {
    const Place place = places_.PlaceOf(strip, 0);
    AscendC::LocalTensor<float> results = resultQueue_.AllocTensor<float>();
    moments_.Results(results);
    resultQueue_.EnQue(results);
    results = resultQueue_.DeQue<float>();
    const uint32_t at = place.sample * tiling_->groups + place.group;
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(place.groups * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[at], results, row);
    AscendC::DataCopyPad(rstdGm_[at], results[lanes_], row);
    resultQueue_.FreeTensor(results);
  }

  // The workspace has a record of three rows for each chunk of the shared strips.
  __aicore__ inline void PublishTables() {
    SyncPipes<AscendC::HardEvent::V_MTE3>(pipe_);
    const uint32_t chunks = lastChunk_ - firstChunk_, row = lanes_ * sizeof(float);
    if (chunks == 0) return;
    for (uint32_t which = 0; which < kTables; ++which) {
      AscendC::DataCopyExtParams rows{static_cast<uint16_t>(chunks), row, 0, (kTables - 1) * row, 0};
      AscendC::DataCopyPad(tableGm_[(firstChunk_ * kTables + which) * lanes_], moments_.Table(which), rows);
    }
  }

  // All chunks of a strip, in their order: every core adds up the same numbers in the same way.
  __aicore__ inline void CombineShared(uint32_t strip) {
    const uint32_t first = (strip - sharedFrom_) * stripChunks_, row = lanes_ * sizeof(float);
    SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
    for (uint32_t which = 0; which < kTables; ++which) {
      AscendC::DataCopyExtParams rows{static_cast<uint16_t>(stripChunks_), row, (kTables - 1) * row, 0, 0};
      AscendC::DataCopyPadExtParams<float> whole{false, 0, 0, 0.0f};
      AscendC::DataCopyPad(moments_.Table(which), tableGm_[(first * kTables + which) * lanes_], rows, whole);
    }
    SyncPipes<AscendC::HardEvent::MTE2_V>(pipe_);
    moments_.Combine(stripChunks_, CountOf{&places_, strip});
    strip_ = strip;
    // Whoever has the beginning of a strip writes its statistics.
    if (firstChunk_ <= first && first < lastChunk_ && !written_) WriteResults(strip);
    if (firstChunk_ <= first && first < lastChunk_) written_ = true;
  }

  static constexpr uint32_t kTables = GroupNormNhwcMoments::kTables;
  AscendC::TPipe* pipe_ = nullptr;
  const __gm__ GroupNormNhwcTilingData* tiling_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, kNhwcMostSlots> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> resultQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  GroupNormNhwcPlaces places_;
  GroupNormNhwcColumns columns_;
  GroupNormNhwcMoments moments_;
  AscendC::LocalTensor<T> kept_[kNhwcMostSlots];
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<float> tableGm_;
  uint32_t slots_ = 0;
  uint32_t lanes_ = 0;
  uint32_t stripPieces_ = 0;
  uint32_t stripChunks_ = 0;
  uint32_t firstStrip_ = 0;
  uint32_t lastStrip_ = 0;
  uint32_t sharedFrom_ = 0;  // the first strip that cores divide
  uint32_t firstChunk_ = 0;  // of those of the shared strips
  uint32_t lastChunk_ = 0;
  uint32_t strip_ = 0;  // whose statistics are combined
  uint32_t loaded_ = 0;
  uint32_t freed_ = 0;
  uint32_t loadRun_ = 0;
  uint32_t loadStep_ = 0;
  bool written_ = false;
};

template <class T>
using GroupNormNhwc = GroupNormNhwcWith<T, GroupNormIdentity>;
template <class T>
using GroupNormSiluNhwc = GroupNormNhwcWith<T, GroupNormSilu>;
