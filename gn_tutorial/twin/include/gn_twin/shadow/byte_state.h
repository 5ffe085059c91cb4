// The validity of memory: which bytes hold a value. One bit stands for a 32-byte block whose bytes all hold values; any
// other block has one bit per byte. So an instruction on 4 KiB changes only a few words.
#pragma once
#include <stdlib.h>

#include "gn_twin/events/byte_masks.h"
#include "gn_twin/events/block_span.h"

namespace gn_twin {

// Calls visit(index of a bitmap word, mask of its bits) for the blocks [first, end). The range may be empty.
template <class Visit>
[[gnu::always_inline]] inline void ForWords(uint64_t first, uint64_t end, Visit visit) {
  if (first < end) ForWords(BlockSpan(first, end), visit);
}

// One bit per block. Ranges are [first, end).
class BlockBits {
 public:
  BlockBits() = default;
  ~BlockBits() { free(words_); }
  BlockBits(const BlockBits&) = delete;
  BlockBits& operator=(const BlockBits&) = delete;
  // Makes space for `blocks` bits, all clear. Returns false if there is no memory.
  bool Allocate(uint64_t blocks) {
    count_ = (blocks + 63) / 64 + 1;
    words_ = static_cast<uint64_t*>(calloc(count_, sizeof(uint64_t)));
    return words_ != nullptr;
  }
  void ClearAll() { __builtin_memset(words_, 0, count_ * sizeof(uint64_t)); }

  bool Has(uint64_t block) const { return (words_[block / 64] >> (block % 64) & 1) != 0; }
  void Set(uint64_t block) { words_[block / 64] |= uint64_t{1} << (block % 64); }
  void Clear(uint64_t block) { words_[block / 64] &= ~(uint64_t{1} << (block % 64)); }

  // Returns the last set bit up to and including `block`; block + 1 if there is none.
  uint64_t LastUpTo(uint64_t block) const {
    uint64_t set = words_[block / 64] & ~uint64_t{0} >> (63 - block % 64);
    uint64_t word = block / 64;
    while (set == 0 && word > 0) set = words_[--word];
    return set == 0 ? block + 1 : word * 64 + 63 - static_cast<uint32_t>(__builtin_clzll(set));
  }
  bool HasAll(uint64_t first, uint64_t end) const {
    uint64_t missing = 0;
    ForWords(first, end, [&](uint64_t word, uint64_t mask) { missing |= ~words_[word] & mask; });
    return missing == 0;
  }
  void SetAll(uint64_t first, uint64_t end) {
    ForWords(first, end, [&](uint64_t word, uint64_t mask) { words_[word] |= mask; });
  }
  void ClearAll(uint64_t first, uint64_t end) {
    ForWords(first, end, [&](uint64_t word, uint64_t mask) { words_[word] &= ~mask; });
  }

  uint64_t* Words() const { return words_; }

 private:
  uint64_t* words_ = nullptr;
  uint64_t count_ = 0;
};

class ByteState {
 public:
  ByteState() = default;
  ~ByteState() { free(part_); }
  ByteState(const ByteState&) = delete;
  ByteState& operator=(const ByteState&) = delete;
  // Starts with `bytes` bytes that hold no value. Returns false if there is no memory.
  bool Allocate(uint64_t bytes) {
    bytes_ = bytes;
    const uint64_t blocks = bytes / kBlockBytes + 1;
    part_ = static_cast<uint32_t*>(calloc(blocks, sizeof(uint32_t)));
    return full_.Allocate(blocks) && in_part_.Allocate(blocks) && part_ != nullptr;
  }
  uint64_t Bytes() const { return bytes_; }

  bool HasAll(uint64_t at, uint64_t bytes) const {
    if (bytes == 0) return true;
    return full_.HasAll(at / kBlockBytes, (at + bytes - 1) / kBlockBytes + 1) || FirstMissing(at, bytes) == at + bytes;
  }
  void Set(uint64_t at, uint64_t bytes) {
    const uint64_t end = at + bytes;
    const uint64_t first_whole = (at + kBlockBytes - 1) / kBlockBytes;
    const uint64_t end_whole = end / kBlockBytes;
    if (first_whole > end_whole) return SetPart(at, end);  // inside one block
    if (at % kBlockBytes != 0) SetPart(at, first_whole * kBlockBytes);
    full_.SetAll(first_whole, end_whole);
    if (end % kBlockBytes != 0) SetPart(end_whole * kBlockBytes, end);
  }
  // Calls visit(index of a bitmap word, bits) for the blocks in [first, end) in which at least one byte holds a value.
  template <class Visit>
  void ForSome(uint64_t first, uint64_t end, Visit visit) const {
    ForWords(first, end,
             [&](uint64_t word, uint64_t mask) { visit(word, (full_.Words()[word] | in_part_.Words()[word]) & mask); });
  }
  void Clear(uint64_t at, uint64_t bytes) {
    const uint64_t first_whole = (at + kBlockBytes - 1) / kBlockBytes;
    const uint64_t end_whole = (at + bytes) / kBlockBytes;
    if (at % kBlockBytes == 0 && first_whole < end_whole) {
      full_.ClearAll(first_whole, end_whole);
      ForWords(first_whole, end_whole, [&](uint64_t word, uint64_t mask) {
        ForBits(in_part_.Words()[word] & mask, [&](uint32_t bit) { part_[word * 64 + bit] = 0; });
        in_part_.Words()[word] &= ~mask;
      });
      bytes -= (end_whole - first_whole) * kBlockBytes;
      at = end_whole * kBlockBytes;
    }
    for (const uint64_t end = at + bytes; at < end;) {
      const uint64_t block = at / kBlockBytes;
      const uint64_t stop = end < (block + 1) * kBlockBytes ? end : (block + 1) * kBlockBytes;
      if (full_.Has(block)) {
        full_.Clear(block);
        in_part_.Set(block);
        part_[block] = ~0u;
      }
      part_[block] &= ~BytesOfBlock(at, stop);
      if (part_[block] == 0) in_part_.Clear(block);  // no byte of the block holds a value any more
      at = stop;
    }
  }
  // Whether every 32-byte block that [at, at + bytes) touches is without values.
  bool HasNone(uint64_t at, uint64_t bytes) const {
    uint64_t found = 0;
    ForSome(at / kBlockBytes, (at + bytes + kBlockBytes - 1) / kBlockBytes,
            [&](uint64_t, uint64_t some) { found |= some; });
    return found == 0;
  }
  // Returns the first byte of [at, at + bytes) without a value; at + bytes if there is none.
  uint64_t FirstMissing(uint64_t at, uint64_t bytes) const {
    for (const uint64_t end = at + bytes; at < end;) {
      const uint64_t block = at / kBlockBytes;
      const uint64_t stop = end < (block + 1) * kBlockBytes ? end : (block + 1) * kBlockBytes;
      if (!full_.Has(block)) {
        const uint32_t missing = ~part_[block] & BytesOfBlock(at, stop);
        if (missing != 0) return block * kBlockBytes + static_cast<uint32_t>(__builtin_ctz(missing));
      }
      at = stop;
    }
    return at;
  }
  // Whether, in the blocks that `masks` touch in part, all masked bytes hold values. SetParts marks these bytes as
  // holding values.
  [[gnu::always_inline]] bool HasParts(const ByteMasks& masks) const {
    uint32_t missing = 0;
    masks.ForParts([&](uint32_t block, uint32_t mask) { missing |= full_.Has(block) ? 0 : mask & ~part_[block]; });
    return missing == 0;
  }
  [[gnu::always_inline]] void SetParts(const ByteMasks& masks) {
    masks.ForParts([&](uint32_t block, uint32_t mask) { SetPart(block, mask); });
  }
  const BlockBits& Full() const { return full_; }
  uint64_t* FullWords() { return full_.Words(); }

 private:
  void SetPart(uint64_t at, uint64_t end) {
    if (at != end) SetPart(at / kBlockBytes, BytesOfBlock(at, end));
  }
  void SetPart(uint64_t block, uint32_t mask) {
    if (full_.Has(block) || (part_[block] & mask) == mask) return;
    in_part_.Set(block);
    part_[block] |= mask;
    if (part_[block] == ~0u) full_.Set(block);
  }

  BlockBits full_;
  BlockBits in_part_;         // blocks that have bits in part_
  uint32_t* part_ = nullptr;  // for blocks that are not full; from calloc, so that unused pages cost nothing
  uint64_t bytes_ = 0;
};

}  // namespace gn_twin
