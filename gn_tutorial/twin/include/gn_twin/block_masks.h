// Which blocks of 32 bytes an operand with gaps touches, as words of a bitmap.
#pragma once
#include <stdlib.h>

#include "gn_twin/local_rows.h"

namespace gn_twin {

// One pointer: a known call has several, and is looked at as often as a loop has instructions.
class BlockMasks {
 public:
  BlockMasks() = default;
  ~BlockMasks() { free(kept_); }
  BlockMasks(const BlockMasks&) = delete;
  BlockMasks& operator=(const BlockMasks&) = delete;

  // False without memory: then there are none.
  bool Set(const LocalRows& rows) {
    const uint32_t first = rows.range.begin / kBlockBytes / 64;
    const uint32_t count = (rows.range.end - 1) / kBlockBytes / 64 - first + 1;
    if (kept_ == nullptr || kept_->room < count) {
      free(kept_);
      kept_ = static_cast<Kept*>(malloc(sizeof(Kept) + count * sizeof(Word)));
      if (kept_ == nullptr) return false;
      kept_->room = count;
    }
    kept_->first = first;
    kept_->count = count;
    kept_->parts = false;
    Word* const words = kept_->Words();
    __builtin_memset(words, 0, count * sizeof(Word));
    rows.ForEach([&](LocalRange row) {
      for (uint32_t block = row.begin / kBlockBytes; block * kBlockBytes < row.end; ++block) {
        Word& word = words[block / 64 - first];
        const uint64_t bit = uint64_t{1} << block % 64;
        const bool whole = row.begin <= block * kBlockBytes && (block + 1) * kBlockBytes <= row.end;
        word.touched |= bit;
        if (whole) word.whole |= bit;
        kept_->parts = kept_->parts || !whole;
      }
    });
    return true;
  }

  // visit(word of the bitmap, its blocks of which all bytes are touched, those of which any is).
  template <class Visit>
  [[gnu::always_inline]] void ForWords(Visit visit) const {
    const Word* word = kept_->Words();
    const Word* const end = word + kept_->count;  // read once: visit may write to any memory
    for (uint64_t number = kept_->first; word != end; ++word) {
      visit(number++, word->whole, word->touched);
      asm("" : "+r"(number));  // not vectorised: for a few words that takes three times as long
    }
  }
  // Whether rows begin or end inside a block.
  bool Parts() const { return kept_->parts; }

 private:
  struct Word {
    uint64_t whole;
    uint64_t touched;
  };
  struct Kept {
    uint32_t first;
    uint32_t count;
    uint32_t room;
    bool parts;
    Word* Words() { return reinterpret_cast<Word*>(this + 1); }
  };
  static_assert(sizeof(Kept) % alignof(Word) == 0);
  Kept* kept_ = nullptr;
};

}  // namespace gn_twin
