// In which order a core of RMSNorm's gradients takes its tiles, and where each of them is: numbers only, nothing is copied or computed.
//
// Core c takes chunks c, c + usedCores, ...; in a chunk the passes, in a pass the parts of rows, in a part the rows, tileRows at once.
#pragma once
#include "kernel_operator.h"
#include "rms_norm_tiling.h"

// Rows are counted from the chunk's first.
struct RmsNormBackwardPlace {
  uint32_t chunk;
  uint32_t pass;
  uint32_t part;
  uint32_t row;
};

class RmsNormBackwardWalk {
  using Place = RmsNormBackwardPlace;

 public:
  __aicore__ inline void Init(const __gm__ RmsNormBackwardTilingData* tiling) {
    rows_ = tiling->rows;
    length_ = tiling->length;
    cores_ = tiling->usedCores;
    chunkRows_ = tiling->chunkRows;
    chunks_ = tiling->chunks;
    tileRows_ = tiling->tileRows;
    parts_ = tiling->parts;
  }

  // 1 for whole rows, 2 for rows in parts.
  __aicore__ inline uint32_t passes() const { return parts_ > 1 ? 2 : 1; }
  __aicore__ inline bool IsOver(const Place& place) const { return place.chunk >= chunks_; }
  __aicore__ inline bool IsLastPass(const Place& place) const { return place.pass + 1 == passes(); }

  __aicore__ inline void Advance(Place* place) const {
    place->row += tileRows_;
    if (place->row < RowsOf(place->chunk)) return;
    place->row = 0;
    if (++place->part < parts_) return;
    place->part = 0;
    if (++place->pass < passes()) return;
    place->pass = 0;
    place->chunk += cores_;
  }

  __aicore__ inline uint32_t RowsOf(uint32_t chunk) const {
    const uint32_t left = rows_ - chunk * chunkRows_;
    return left < chunkRows_ ? left : chunkRows_;
  }
  // Of a tile: its rows, their elements, and from one row to the next in local memory, in whole blocks of `block` elements.
  __aicore__ inline uint32_t LinesOf(const Place& place) const {
    const uint32_t left = RowsOf(place.chunk) - place.row;
    return left < tileRows_ ? left : tileRows_;
  }
  __aicore__ inline uint32_t LengthOf(const Place& place) const {
    const uint32_t left = length_ - place.part * kRmsNormBackwardTile;
    return left < kRmsNormBackwardTile ? left : kRmsNormBackwardTile;
  }
  __aicore__ inline uint32_t PitchOf(const Place& place, uint32_t block) const {
    return (LengthOf(place) + block - 1) / block * block;
  }

  // In global memory: a chunk's first row; a tile's first element; and that of its part in the chunk's line of sums.
  __aicore__ inline uint64_t FirstRowOf(uint32_t chunk) const { return static_cast<uint64_t>(chunk) * chunkRows_; }
  __aicore__ inline uint64_t OffsetOf(const Place& place) const {
    return (FirstRowOf(place.chunk) + place.row) * length_ + static_cast<uint64_t>(place.part) * kRmsNormBackwardTile;
  }
  __aicore__ inline uint64_t LineOf(const Place& place) const {
    return static_cast<uint64_t>(place.chunk) * length_ + static_cast<uint64_t>(place.part) * kRmsNormBackwardTile;
  }

 private:
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
  uint32_t cores_ = 1;
  uint32_t chunkRows_ = 0;
  uint32_t chunks_ = 0;
  uint32_t tileRows_ = 1;
  uint32_t parts_ = 1;
};
