// Records which bytes of one core's Unified Buffer are padding. DataCopyPad fills the rest of a row's last 32-byte
// block, and instructions on whole rows propagate the padding. Each byte has one bit. A launch without padded rows only
// tests a flag.
#pragma once
#include "gn_twin/base/loc.h"
#include "gn_twin/events/block_span.h"
#include "gn_twin/shadow/byte_state.h"

namespace gn_twin {

class PaddingState {
 public:
  bool Allocate() { return blocks_.Allocate(kBlocks); }
  void Restart() {
    if (any_) blocks_.ClearAll();
    any_ = false;
  }
  // Whether there was padding since Restart().
  bool Any() const { return any_; }
  // Whether some of these blocks hold padding.
  [[gnu::always_inline]] bool Touches(const BlockSpan& span) const {
    uint64_t found = 0;
    ForWords(span, [&](uint64_t word, uint64_t mask) { found |= blocks_.Words()[word] & mask; });
    return found != 0;
  }
  bool TouchesBytes(uint64_t begin, uint64_t end) const {
    return begin < end && Touches(BlockSpan::OfBytes(begin, end));
  }
  bool Has(uint64_t at) const {
    const uint64_t block = at / kBlockBytes;
    return blocks_.Has(block) && (part_[block] >> at % kBlockBytes & 1) != 0;
  }
  // Returns the mask of the block's bytes that are padding.
  uint32_t BytesIn(uint64_t block) const { return blocks_.Has(block) ? part_[block] : 0; }
  // Calls visit(block, mask of its padding bytes in the range, number of the copy that made them). visit must not add
  // padding to the range.
  template <class Visit>
  void ForPadded(uint64_t begin, uint64_t end, Visit visit) const {
    ForWords(BlockSpan::OfBytes(begin, end), [&](uint64_t word, uint64_t mask) {
      ForBits(blocks_.Words()[word] & mask, [&](uint32_t bit) {
        const uint64_t block = word * 64 + bit, at = block * kBlockBytes;
        const uint32_t bytes =
            part_[block] & BytesOfBlock(at < begin ? begin : at, at + kBlockBytes > end ? end : at + kBlockBytes);
        if (bytes != 0) visit(block, bytes, origin_[block]);
      });
    });
  }
  bool FirstIn(uint64_t begin, uint64_t end) const {
    bool found = false;
    ForPadded(begin, end, [&](uint64_t, uint32_t, uint8_t) { found = true; });
    return found;
  }
  bool TouchesMasked(const ByteMasks& masks) const {
    uint64_t found = 0;
    masks.ForWords([&](uint64_t word, uint64_t whole, uint64_t) { found |= blocks_.Words()[word] & whole; });
    masks.ForParts([&](uint32_t block, uint32_t bytes) { found |= BytesIn(block) & bytes; });
    return found != 0;
  }
  void SetBlock(uint64_t block, uint32_t bytes, uint8_t origin) {
    part_[block] = bytes | BytesIn(block);
    origin_[block] = origin;
    blocks_.Set(block);
  }
  // Returns the number of the copy that made the padding in the 32-byte block of `at`. The block must hold padding.
  uint8_t OriginOf(uint64_t at) const { return origin_[at / kBlockBytes]; }
  Loc CopyOf(uint8_t origin) const { return copies_[origin]; }
  // Returns the number of a copy that pads. A new copy takes a free number, or else that of the oldest copy.
  uint8_t Remember(Loc copy) {
    for (uint8_t i = 0; i < kCopies; ++i)
      if (copies_[i].line == copy.line && copies_[i].file == copy.file) return i;
    next_ = static_cast<uint8_t>((next_ + 1) % kCopies);
    copies_[next_] = copy;
    return next_;
  }

  void Set(uint64_t begin, uint64_t end, uint8_t origin) {
    any_ = true;
    ForBlocks(begin, end, [&](uint64_t block, uint32_t bytes) { SetBlock(block, bytes, origin); });
  }
  void Clear(uint64_t begin, uint64_t end) {
    if (!any_ || !TouchesBytes(begin, end)) return;
    const uint64_t first = (begin + kBlockBytes - 1) / kBlockBytes, last = end / kBlockBytes;
    if (first < last) blocks_.ClearAll(first, last);
    const auto part = [&](uint64_t from, uint64_t to) {
      ForBlocks(from, to, [&](uint64_t block, uint32_t bytes) {
        if (!blocks_.Has(block)) return;
        part_[block] &= ~bytes;
        if (part_[block] == 0) blocks_.Clear(block);
      });
    };
    if (first > last) return part(begin, end);  // inside one block
    part(begin, first * kBlockBytes);
    part(last * kBlockBytes, end);
  }

 private:
  static constexpr uint32_t kBlocks = kUbBytes / kBlockBytes;
  static constexpr uint8_t kCopies = 16;

  template <class Visit>
  static void ForBlocks(uint64_t begin, uint64_t end, Visit visit) {
    while (begin < end) {
      const uint64_t next = (begin / kBlockBytes + 1) * kBlockBytes;
      const uint64_t stop = next < end ? next : end;
      visit(begin / kBlockBytes, BytesOfBlock(begin, stop));
      begin = stop;
    }
  }

  BlockBits blocks_;              // the blocks that hold padding
  uint32_t part_[kBlocks] = {};   // of each block, the mask of its padding bytes
  uint8_t origin_[kBlocks] = {};  // of each block, the copy that wrote the padding: an index of copies_
  Loc copies_[kCopies] = {};
  uint8_t next_ = 0;
  bool any_ = false;
};

}  // namespace gn_twin
