// A range of 32-byte blocks as words of a bitmap with one bit a block.
#pragma once
#include "gn_twin/base/config.h"

namespace gn_twin {

// Returns a mask of the bytes [begin, end) of one block, one bit a byte. `end` may be the end of the block.
inline uint32_t BytesOfBlock(uint64_t begin, uint64_t end) {
  return static_cast<uint32_t>(((uint64_t{1} << (end - begin)) - 1) << begin % kBlockBytes);
}

// Calls visit(number of the bit) for the set bits of a word, lowest first.
template <class Visit>
[[gnu::always_inline]] inline void ForBits(uint64_t word, Visit visit) {
  for (; word != 0; word &= word - 1) visit(static_cast<uint32_t>(__builtin_ctzll(word)));
}

struct BlockSpan {
  uint32_t word = 0;  // number of the first word
  uint32_t last = 0;  // number of the last word
  uint64_t head = 0;  // mask of the range's bits in the first word
  uint64_t tail = 0;  // mask of the range's bits in the last word

  BlockSpan() = default;
  // Spans the blocks [first, end), at least one.
  BlockSpan(uint64_t first, uint64_t end)
      : word(static_cast<uint32_t>(first / 64)),
        last(static_cast<uint32_t>((end - 1) / 64)),
        head(~uint64_t{0} << first % 64),
        tail(~uint64_t{0} >> (63 - (end - 1) % 64)) {
    if (word == last) head = tail &= head;
  }
  // Returns the blocks that the bytes [begin, end) touch, at least one.
  static BlockSpan OfBytes(uint64_t begin, uint64_t end) {
    return {begin / kBlockBytes, (end + kBlockBytes - 1) / kBlockBytes};
  }
};

// Calls visit(number of the word, mask of the span's bits in it) for each word. The code calls visit at only one place,
// so that g++ inlines it.
template <class Visit>
[[gnu::always_inline]] inline void ForWords(const BlockSpan& span, Visit visit) {
  uint64_t mask = span.head;
  for (uint64_t word = span.word;; mask = word == span.last ? span.tail : ~uint64_t{0}) {
    visit(word, mask);
    if (word++ == span.last) return;
  }
}

}  // namespace gn_twin
