// A ring of slots in local memory, for step 5: how pieces of dy and x come in, stay, and how dx leaves. That of the forward pass
// (group_norm_ring.h), with two tensors in a slot.
//
// A piece is some whole rows of a group, or a part of one row; a row is one channel of one sample. A slot holds a piece of dy, the
// same of x, and gamma of its channels; where dy goes through an activation, beta too. Copies run ahead: whenever a slot comes free, the next piece of this core is on its way, of
// this group or the next.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_slots.h"
#include "../common/common_sync.h"
#include "group_norm_backward_epilogue.h"
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

template <class T, class Epilogue>
class GroupNormBackwardRing {
 protected:
  // Whether what an activation makes of dy waits as floats, in the place of dy and behind it: made of rounded numbers, it is no half.
  static constexpr bool kWidens = Epilogue::kActivates && !kIsFloat<T>;
  static constexpr uint32_t kSlots = kIsFloat<T> ? kGroupNormBackwardSlots
                                     : kWidens   ? kGroupNormBackwardActivatedNarrowSlots
                                                 : kGroupNormBackwardNarrowSlots;
  static constexpr uint32_t kPiece = kIsFloat<T> ? kGroupNormBackwardPiece : kGroupNormBackwardNarrowPiece;

  struct Piece {
    uint32_t group;
    bool first;     // of its chunk, whose sums for dx are taken together
    bool last;      // of its chunk
    uint32_t rows;  // each on 32-byte blocks of its own
    uint32_t length;
    uint32_t pitch;    // elements from one row of a slot to the next
    uint32_t channel;  // of the tensor
    uint64_t entry;    // in the tables of sums of rows: of its first row
    uint64_t at;       // offset of its first element in dy, x and dx
  };

  // What this core works on: pieces begin .. end - 1 of all groups, range after range. Each range is read once for its sums; its last
  // pieces stay for dx, those before them come a second time.
  struct Range {
    uint32_t begin;
    uint32_t end;
  };

  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR gamma, GM_ADDR dx,
                              const __gm__ GroupNormBackwardTilingData* tiling, GM_ADDR beta) {
    pipe_ = pipe;
    mask_ = tiling->mask;
    // dbeta is a sum of dy alone, as it reaches GroupNorm.
    needsX_ = Epilogue::kActivates || (mask_ & (kGroupNormWantDx | kGroupNormWantDgamma)) != 0;
    spatial_ = tiling->spatial;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    groupElements_ = tiling->groupElements;
    pieceRows_ = tiling->pieceRows;
    pieceLength_ = tiling->pieceLength;
    parts_ = pieceLength_ == 0 ? 1 : (spatial_ + pieceLength_ - 1) / pieceLength_;
    groupPieces_ = tiling->groupPieces;
    chunkPieces_ = tiling->chunkPieces;
    slotElements_ = tiling->slotElements;
    const uint32_t pieceElements = pieceRows_ * RoundUp(pieceLength_);
    xPlace_ = static_cast<uint32_t>(GroupNormBackwardXPlace((kWidens ? 2 : 1) * pieceElements, kBlock));
    gammaPlace_ = xPlace_ + pieceElements;
    betaPlace_ = gammaPlace_ + RoundUp(pieceRows_);
    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * groupElements_;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dy), elements);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    dyOnceGm_ = dyGm_;
    xOnceGm_ = xGm_;
    if (3 * elements * sizeof(T) > kGroupNormBackwardCacheBytes) {
      dyOnceGm_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
      xOnceGm_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
    }
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dx), elements);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->channels);
    if constexpr (Epilogue::kActivates) betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(beta), tiling->channels);
    pipe_->InitBuffer(slotsBuf_, kSlots * slotElements_ * sizeof(T));
    slotsTile_ = slotsBuf_.Get<T>();
    ring_.Init(pipe_);
    for (uint32_t slot = 0; slot < kSlots; ++slot) pipe_->AllocEventID<AscendC::HardEvent::MTE3_V>();
  }

  __aicore__ inline bool Wants(uint32_t what) const { return (mask_ & what) != 0; }

  // The place of a piece: `number` counts through all groups.
  __aicore__ inline Piece Find(uint32_t number) const {
    Piece piece;
    piece.group = number / groupPieces_;
    const uint32_t index = number % groupPieces_;
    piece.first = index % chunkPieces_ == 0;
    piece.last = index % chunkPieces_ == chunkPieces_ - 1 || index == groupPieces_ - 1;
    const uint32_t channel = index / parts_ * pieceRows_;  // of the group
    const uint32_t start = index % parts_ * pieceLength_;
    const uint32_t left = channelsPerGroup_ - channel;
    piece.rows = left < pieceRows_ ? left : pieceRows_;
    piece.length = spatial_ - start < pieceLength_ ? spatial_ - start : pieceLength_;
    piece.pitch = RoundUp(piece.length);
    piece.channel = piece.group % groups_ * channelsPerGroup_ + channel;
    const uint64_t row = static_cast<uint64_t>(piece.group) * channelsPerGroup_ + channel;
    piece.entry = row * parts_ + index % parts_;
    piece.at = row * spatial_ + start;
    return piece;
  }

  // Starts the copies of piece `number` into the next slot, as soon as that is free. stays: dx is computed there. once: it
  // is read this time only, and need not be in the L2 cache, where it would take the room of dx.
  __aicore__ inline void Load(uint32_t number, bool stays, bool once) {
    const Piece piece = Find(number);
    const uint32_t slot = ring_.Take();
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(piece.rows), static_cast<uint32_t>(piece.length * sizeof(T)),
                                    0, 0, 0};
    AscendC::DataCopyPadExtParams<T> zeros{true, 0, static_cast<uint8_t>(piece.pitch - piece.length),
                                           static_cast<T>(0.0f)};
    AscendC::DataCopyPad(DySlot(slot), once ? dyOnceGm_[piece.at] : dyGm_[piece.at], rows, zeros);
    if (needsX_) AscendC::DataCopyPad(XSlot(slot), once ? xOnceGm_[piece.at] : xGm_[piece.at], rows, zeros);
    if (Epilogue::kActivates || Wants(kGroupNormWantDx)) {
      AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(piece.rows * sizeof(T)), 0, 0, 0};
      AscendC::DataCopyPadExtParams<T> any{false, 0, 0, static_cast<T>(0.0f)};
      AscendC::DataCopyPad(GammaSlot(slot), gammaGm_[piece.channel], row, any);
      if constexpr (Epilogue::kActivates) AscendC::DataCopyPad(BetaSlot(slot), betaGm_[piece.channel], row, any);
    }
    if (stays) AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(slot);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(slot);
  }

  __aicore__ inline void Store(uint32_t slot, const Piece& piece) {
    SyncPipes<AscendC::HardEvent::V_MTE3>(pipe_);
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(piece.rows), static_cast<uint32_t>(piece.length * sizeof(T)),
                                    0, 0, 0};
    AscendC::DataCopyPad(dxGm_[piece.at], DySlot(slot), rows);
    ring_.Leave(slot);
  }

  // The sums of a slot's rows are copied out from a place of their own; the next ones may be written when this returns.
  __aicore__ inline void SumsLeave(uint32_t slot) {
    AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(slot);
    leavingSums_ |= 1u << slot;
  }
  __aicore__ inline void WaitForSums(uint32_t slot) {
    if (leavingSums_ >> slot & 1) AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(slot);
    leavingSums_ &= ~(1u << slot);
  }

  // Every flag that was set is awaited, and every id given back.
  __aicore__ inline void Finish() {
    ring_.Finish();
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      WaitForSums(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::MTE3_V>(slot);
    }
  }

  __aicore__ inline AscendC::LocalTensor<T> DySlot(uint32_t slot) const { return slotsTile_[slot * slotElements_]; }
  __aicore__ inline AscendC::LocalTensor<T> XSlot(uint32_t slot) const {
    return slotsTile_[slot * slotElements_ + xPlace_];
  }
  __aicore__ inline AscendC::LocalTensor<T> GammaSlot(uint32_t slot) const {
    return slotsTile_[slot * slotElements_ + gammaPlace_];
  }
  __aicore__ inline AscendC::LocalTensor<T> BetaSlot(uint32_t slot) const {
    return slotsTile_[slot * slotElements_ + betaPlace_];
  }

  // To whole blocks.
  __aicore__ inline uint32_t RoundUp(uint32_t elements) const { return (elements + kBlock - 1) / kBlock * kBlock; }

  static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes
  AscendC::TPipe* pipe_ = nullptr;
  SlotRing<kSlots> ring_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> slotsBuf_;
  AscendC::LocalTensor<T> slotsTile_;
  AscendC::GlobalTensor<T> dyGm_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> dyOnceGm_;
  AscendC::GlobalTensor<T> xOnceGm_;
  AscendC::GlobalTensor<T> dxGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> betaGm_;
  uint32_t mask_ = 0;
  bool needsX_ = true;
  uint32_t spatial_ = 0;
  uint32_t groups_ = 0;
  uint32_t channelsPerGroup_ = 0;
  uint32_t groupElements_ = 0;
  uint32_t pieceRows_ = 0;
  uint32_t pieceLength_ = 0;
  uint32_t parts_ = 0;  // pieces of a row
  uint32_t groupPieces_ = 0;
  uint32_t chunkPieces_ = 0;
  uint32_t slotElements_ = 0;
  uint32_t xPlace_ = 0;
  uint32_t gammaPlace_ = 0;
  uint32_t betaPlace_ = 0;
  uint32_t leavingSums_ = 0;
};
