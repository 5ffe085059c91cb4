// Where the pieces of a channels-last tensor are: numbered through all strips, by strip, part and rows. What a tiling says of x and a
// kernel of either direction asks, and the copy of a piece to local memory and back.
#pragma once
#include "kernel_operator.h"

class GroupNormNhwcPlaces {
 public:
  struct Piece {
    uint32_t strip;
    uint32_t part;
    uint32_t chunk;  // counts through those of all strips
    uint32_t row;    // of the sample
    uint32_t rows;
    bool first;  // of its chunk
    bool last;
  };
  struct Place {  // of a part in x, gamma and beta
    uint32_t sample;
    uint32_t group;  // of the sample
    uint32_t groups;
    uint32_t groupWidth;  // channels of a group that are in the part
    uint32_t channel;
  };

  // Tiling: the struct of a kernel for channels-last x.
  template <class Tiling>
  __aicore__ inline void Init(const __gm__ Tiling* tiling) {
    channels_ = tiling->channels;
    spatial_ = tiling->spatial;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    stripGroups_ = tiling->stripGroups;
    sampleStrips_ = tiling->sampleStrips;
    parts_ = tiling->parts;
    partChannels_ = tiling->partChannels;
    pieceRows_ = tiling->pieceRows;
    partPieces_ = tiling->partPieces;
    chunkPieces_ = tiling->chunkPieces;
    partChunks_ = tiling->partChunks;
    gapless_ = partChannels_ == channels_ && tiling->periodElements == tiling->periodRows * channels_;
  }

  __aicore__ inline uint32_t StripPieces() const { return parts_ * partPieces_; }
  __aicore__ inline uint32_t StripChunks() const { return parts_ * partChunks_; }

  __aicore__ inline Piece Find(uint32_t number) const {
    Piece piece;
    piece.strip = number / StripPieces();
    const uint32_t inStrip = number % StripPieces();
    piece.part = inStrip / partPieces_;
    const uint32_t index = inStrip % partPieces_;
    piece.chunk = piece.strip * StripChunks() + piece.part * partChunks_ + index / chunkPieces_;
    piece.row = index * pieceRows_;
    const uint32_t left = spatial_ - piece.row;
    piece.rows = left < pieceRows_ ? left : pieceRows_;
    piece.first = index % chunkPieces_ == 0;
    piece.last = index % chunkPieces_ == chunkPieces_ - 1 || index == partPieces_ - 1;
    return piece;
  }
  __aicore__ inline Place PlaceOf(uint32_t strip, uint32_t part) const {
    Place place;
    place.sample = strip / sampleStrips_;
    place.group = strip % sampleStrips_ * stripGroups_;
    const uint32_t left = groups_ - place.group;
    place.groups = left < stripGroups_ ? left : stripGroups_;
    const uint32_t from = parts_ == 1 ? 0 : part * partChannels_;
    const uint32_t width = channelsPerGroup_ - from;
    place.groupWidth = parts_ > 1 && width > partChannels_ ? partChannels_ : width;
    place.channel = place.group * channelsPerGroup_ + from;
    return place;
  }
  // The piece that a chunk begins with.
  __aicore__ inline uint32_t PieceOfChunk(uint32_t chunk) const {
    const uint32_t inStrip = chunk % StripChunks();
    return chunk / StripChunks() * StripPieces() + inStrip / partChunks_ * partPieces_ +
           inStrip % partChunks_ * chunkPieces_;
  }
  // Elements of each group in a chunk of a strip.
  __aicore__ inline uint32_t CountOf(uint32_t strip, uint32_t chunk) const {
    const uint32_t rows = chunkPieces_ * pieceRows_, left = spatial_ - chunk % partChunks_ * rows;
    return (left < rows ? left : rows) * PlaceOf(strip, chunk / partChunks_).groupWidth;
  }
  // Which chunk of its part, for all channels that is.
  __aicore__ inline uint32_t PartChunk(const Piece& piece) const { return piece.chunk % StripChunks() % partChunks_; }
  __aicore__ inline uint32_t PartChunks() const { return partChunks_; }

  // Rows that are all columns of x follow each other without a gap; others are on blocks of their own.
  __aicore__ inline bool Gapless() const { return gapless_; }

  // Elements of a piece of so many channels, in local memory.
  template <class T>
  __aicore__ inline uint32_t Count(const Piece& piece, uint32_t width) const {
    return piece.rows * (gapless_ ? width : (width + kBlock<T> - 1) / kBlock<T> * kBlock<T>);
  }

  template <class T>
  __aicore__ inline void CopyIn(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                const Piece& piece) const {
    const Place place = PlaceOf(piece.strip, piece.part);
    const uint32_t width = place.groups * place.groupWidth, length = gapless_ ? piece.rows * width : width;
    const uint8_t fill = static_cast<uint8_t>((kBlock<T> - length % kBlock<T>) % kBlock<T>);
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(gapless_ ? 1 : piece.rows),
                                    static_cast<uint32_t>(length * sizeof(T)),
                                    static_cast<uint32_t>((channels_ - width) * sizeof(T)), 0, 0};
    AscendC::DataCopyPadExtParams<T> zeros{true, 0, fill, static_cast<T>(0.0f)};
    AscendC::DataCopyPad(to, from[Offset(piece, place)], rows, zeros);
  }
  template <class T>
  __aicore__ inline void CopyOut(const AscendC::GlobalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                 const Piece& piece) const {
    const Place place = PlaceOf(piece.strip, piece.part);
    const uint32_t width = place.groups * place.groupWidth, length = gapless_ ? piece.rows * width : width;
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(gapless_ ? 1 : piece.rows),
                                    static_cast<uint32_t>(length * sizeof(T)), 0,
                                    static_cast<uint32_t>((channels_ - width) * sizeof(T)), 0};
    AscendC::DataCopyPad(to[Offset(piece, place)], from, rows);
  }

 private:
  template <class T>
  static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements of 32 bytes

  __aicore__ inline uint64_t Offset(const Piece& piece, const Place& place) const {
    return (static_cast<uint64_t>(place.sample) * spatial_ + piece.row) * channels_ + place.channel;
  }

  uint32_t channels_ = 0;
  uint32_t spatial_ = 0;
  uint32_t groups_ = 0;
  uint32_t channelsPerGroup_ = 0;
  uint32_t stripGroups_ = 0;
  uint32_t sampleStrips_ = 0;
  uint32_t parts_ = 0;
  uint32_t partChannels_ = 0;
  uint32_t pieceRows_ = 0;
  uint32_t partPieces_ = 0;
  uint32_t chunkPieces_ = 0;
  uint32_t partChunks_ = 0;
  bool gapless_ = false;
};
