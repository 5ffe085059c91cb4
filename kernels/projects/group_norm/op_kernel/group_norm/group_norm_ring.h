// A ring of slots in local memory, for step 5 and later: how pieces of groups come in, stay, and leave.
//
// A piece is some whole channels of a group, or a part of one channel. Copies run ahead: whenever a slot comes free, the next piece of
// this core is on its way, of this group or the next.
// A slot holds x as it comes and y as it leaves, then gamma and beta of the channels.
#pragma once
#include "group_norm_core.h"
#include "../common/common_dtype.h"
#include "../common/common_slots.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

template <class T>
class GroupNormRing {
 protected:
  // The hardware has eight event ids of a kind; of half and bfloat16, in larger pieces, there is room for six.
  static constexpr uint32_t kSlots = kIsFloat<T> ? 8 : 6;

  struct Piece {
    uint32_t group;
    uint32_t chunk;    // of the group; its statistics are taken together
    bool first;        // of its chunk
    bool last;         // of its chunk
    uint32_t channel;  // of the group
    uint32_t rows;     // channels, each on 32-byte blocks of its own
    uint32_t length;   // elements of each row
    uint32_t pitch;    // elements from one row of a slot to the next
    uint64_t at;       // offset of its first element in x and y
  };

  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                              const __gm__ GroupNormTilingData* tiling) {
    pipe_ = pipe;
    spatial_ = tiling->spatial;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    groupElements_ = tiling->groupElements;
    pieceRows_ = tiling->pieceRows;
    pieceLength_ = tiling->pieceLength;
    parts_ = (spatial_ + pieceLength_ - 1) / pieceLength_;
    groupPieces_ = tiling->groupPieces;
    chunkPieces_ = tiling->chunkPieces;
    slotElements_ = tiling->slotElements;
    affinePlace_ = slotElements_;
    const uint32_t bytes = (affinePlace_ + 2 * RoundUp(pieceRows_)) * sizeof(T);
    slotBytes_ = (bytes + kLine - 1) / kLine * kLine;
    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * groupElements_;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), elements);
    xOnceGm_ = xGm_;
    if (2 * elements * sizeof(T) > kGroupNormCacheBytes)
      xOnceGm_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), elements);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->channels);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(beta), tiling->channels);
    pipe_->InitBuffer(slotsBuf_, kSlots * slotBytes_);
    slots_ = slotsBuf_.Get<T>();
    ring_.Init(pipe_);
  }

  // Pieces begin .. end - 1 of all groups.
  struct Range {
    uint32_t begin;
    uint32_t end;
  };

  // The place of a piece of x: `number` counts through all groups.
  __aicore__ inline Piece Find(uint32_t number) const {
    Piece piece;
    piece.group = number / groupPieces_;
    const uint32_t index = number % groupPieces_;
    piece.chunk = index / chunkPieces_;
    piece.first = index % chunkPieces_ == 0;
    piece.last = index % chunkPieces_ == chunkPieces_ - 1 || index == groupPieces_ - 1;
    piece.channel = index / parts_ * pieceRows_;
    const uint32_t start = index % parts_ * pieceLength_;
    const uint32_t left = channelsPerGroup_ - piece.channel;
    piece.rows = left < pieceRows_ ? left : pieceRows_;
    piece.length = spatial_ - start < pieceLength_ ? spatial_ - start : pieceLength_;
    piece.pitch = RoundUp(piece.length);
    piece.at =
        static_cast<uint64_t>(piece.group) * groupElements_ + static_cast<uint64_t>(piece.channel) * spatial_ + start;
    return piece;
  }

  // Starts the copy of piece `number` into the next slot, as soon as that is free. What is read only once need not be in the L2
  // cache, where it would take the room of y. The scalar unit waits by a flag of its own for the first piece of a chunk, and for what
  // comes a second time; otherwise it waits for the vector unit before it reads, which has waited for the copy.
  __aicore__ inline void Load(uint32_t number, bool withAffine, bool once) {
    const Piece piece = Find(number);
    const uint32_t slot = ring_.Take();
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(piece.rows), static_cast<uint32_t>(piece.length * sizeof(T)),
                                    0, 0, 0};
    AscendC::DataCopyPadExtParams<T> zeros{true, 0, static_cast<uint8_t>(piece.pitch - piece.length),
                                           static_cast<T>(0.0f)};
    AscendC::DataCopyPad(X(slot), once ? xOnceGm_[piece.at] : xGm_[piece.at], rows, zeros);
    if (withAffine) {
      const uint32_t channel = piece.group % groups_ * channelsPerGroup_ + piece.channel;
      AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(piece.rows * sizeof(T)), 0, 0, 0};
      AscendC::DataCopyPadExtParams<T> any{false, 0, 0, static_cast<T>(0.0f)};
      AscendC::DataCopyPad(Gamma(slot), gammaGm_[channel], row, any);
      AscendC::DataCopyPad(Beta(slot), betaGm_[channel], row, any);
    }
    const bool again = withAffine && !once;
    if (again || piece.first) AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(slot);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(slot);
  }

  __aicore__ inline void Store(uint32_t slot, const Piece& piece) {
    SyncPipes<AscendC::HardEvent::V_MTE3>(pipe_);
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(piece.rows), static_cast<uint32_t>(piece.length * sizeof(T)),
                                    0, 0, 0};
    AscendC::DataCopyPad(yGm_[piece.at], X(slot), rows);
    ring_.Leave(slot);
  }

  // A slot: x, or y; gamma and beta of its channels.
  __aicore__ inline AscendC::LocalTensor<T> X(uint32_t slot) const { return slots_[slot * slotBytes_ / sizeof(T)]; }
  __aicore__ inline AscendC::LocalTensor<T> Gamma(uint32_t slot) const {
    return slots_[slot * slotBytes_ / sizeof(T) + affinePlace_];
  }
  __aicore__ inline AscendC::LocalTensor<T> Beta(uint32_t slot) const { return Gamma(slot)[RoundUp(pieceRows_)]; }

  // To whole blocks.
  __aicore__ inline uint32_t RoundUp(uint32_t elements) const { return (elements + kBlock - 1) / kBlock * kBlock; }

  static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes
  static constexpr uint32_t kLine = 512;              // bytes: slots begin at the same bank of local memory
  AscendC::TPipe* pipe_ = nullptr;
  SlotRing<kSlots> ring_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> slotsBuf_;
  AscendC::LocalTensor<T> slots_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> xOnceGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> betaGm_;
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
  uint32_t affinePlace_ = 0;
  uint32_t slotBytes_ = 0;
};
