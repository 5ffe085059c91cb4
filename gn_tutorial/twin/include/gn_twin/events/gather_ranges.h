// The bytes of the Unified Buffer that a gather reads: pieces at offsets from one address.
#pragma once
#include <stdlib.h>

#include "gn_twin/events/strided_range.h"

namespace gn_twin {

// `count` pieces of `bytes` bytes, offsets[i] bytes from the start of the range, which encloses them.
struct GatherRanges {
  LocalRange range;
  const uint32_t* offsets = nullptr;
  uint32_t count = 0;
  uint32_t bytes = 0;

  bool operator==(const GatherRanges& other) const {
    return range.begin == other.range.begin && range.end == other.range.end && count == other.count &&
           bytes == other.bytes && SameOffsets(other.offsets);
  }
  bool SameOffsets(const uint32_t* other) const {
    return __builtin_memcmp(offsets, other, count * sizeof(uint32_t)) == 0;
  }
  // Calls visit(range of a piece), in the order of the offsets.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < count; ++i) visit(LocalRange{range.begin + offsets[i], range.begin + offsets[i] + bytes});
  }
  // Returns the lowest byte that a piece shares with `other`; other.end if no piece overlaps `other`.
  GNT_NOINLINE uint32_t FirstIn(LocalRange other) const {
    uint32_t first = other.end;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t begin = range.begin + offsets[i];
      const uint32_t shared = begin < other.begin ? other.begin : begin;
      const uint32_t found = shared < begin + bytes ? shared : other.end;
      first = found < first ? found : first;
    }
    return first;
  }
};

// A copy of gather ranges that outlives the instruction.
class OwnedGatherRanges {
 public:
  OwnedGatherRanges() = default;
  ~OwnedGatherRanges() { free(offsets_); }
  OwnedGatherRanges(const OwnedGatherRanges&) = delete;
  OwnedGatherRanges& operator=(const OwnedGatherRanges&) = delete;

  const GatherRanges& Get() const { return pieces_; }
  // Copies `pieces`. If there is no memory, returns false and is empty.
  bool Keep(const GatherRanges& pieces) {
    pieces_ = {};
    if (room_ < pieces.count) {
      free(offsets_);
      offsets_ = static_cast<uint32_t*>(malloc(pieces.count * sizeof(uint32_t)));
      room_ = offsets_ != nullptr ? pieces.count : 0;
    }
    if (offsets_ == nullptr) return false;
    __builtin_memcpy(offsets_, pieces.offsets, pieces.count * sizeof(uint32_t));
    pieces_ = pieces;
    pieces_.offsets = offsets_;
    return true;
  }

 private:
  GatherRanges pieces_;
  uint32_t* offsets_ = nullptr;
  uint32_t room_ = 0;
};

}  // namespace gn_twin
