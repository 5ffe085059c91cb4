// Masks of the bytes that an operand with gaps touches: two bitmaps with one bit a 32-byte block (touched whole and
// touched at all), and a mask of the bytes of each block touched in part.
#pragma once
#include <stdlib.h>

#include "gn_twin/events/block_span.h"
#include "gn_twin/events/strided_range.h"

namespace gn_twin {

// The masks of one operand, behind one pointer. The fields that are read most often share a cache line, because a loop
// reads them at each repetition.
class ByteMasks {
 public:
  ByteMasks() = default;
  ~ByteMasks() {
    if (storage_ != nullptr) free(storage_->parts);
    free(storage_);
  }
  ByteMasks(const ByteMasks&) = delete;
  ByteMasks& operator=(const ByteMasks&) = delete;

  // Clears the masks and makes space for the bytes of the range; returns false if there is no memory.
  bool Begin(LocalRange range) {
    const uint32_t first = range.begin / kBlockBytes / 64;
    const uint32_t count = (range.end - 1) / kBlockBytes / 64 - first + 1;
    if (storage_ == nullptr || storage_->room < count) {
      Storage* const made =
          static_cast<Storage*>(aligned_alloc(64, (sizeof(Storage) + 2 * count * sizeof(uint64_t) + 63) & ~63));
      if (made == nullptr) return false;
      *made = storage_ != nullptr ? *storage_ : Storage{};
      made->room = count;
      free(storage_);
      storage_ = made;
    }
    storage_->first = first;
    storage_->count = count;
    storage_->parts_count = 0;
    __builtin_memset(storage_->Words(), 0, 2 * count * sizeof(uint64_t));
    return true;
  }
  // Adds bytes inside the range given to Begin; returns false if there is no memory.
  bool Add(LocalRange run) {
    for (uint32_t at = run.begin; at < run.end;) {
      const uint32_t block = at / kBlockBytes;
      const uint32_t end = run.end < (block + 1) * kBlockBytes ? run.end : (block + 1) * kBlockBytes;
      const uint64_t bit = uint64_t{1} << block % 64;
      uint64_t* const word = storage_->Words() + (block / 64 - storage_->first);
      word[storage_->count] |= bit;
      const uint32_t bytes = BytesOfBlock(at, end);
      if (bytes != ~0u && !storage_->AddPart({block, bytes})) return false;
      if (bytes == ~0u || storage_->TakeWhole()) word[0] |= bit;
      at = end;
    }
    return true;
  }

  // Calls visit(number of the word, blocks touched whole, blocks touched at all) for each word of the bitmaps; the
  // blocks are masks with one bit a block.
  template <class Visit>
  [[gnu::always_inline]] void ForWords(Visit visit) const {
    const uint64_t* whole = storage_->Words();
    const uint64_t* const end = whole + storage_->count;  // read once: visit may write to any memory
    const uint64_t* touched =
        storage_->parts_count == 0 ? whole : end;  // the same words, if no block is touched in part
    for (uint64_t number = storage_->first; whole != end; ++whole, ++touched) {
      visit(number++, *whole, *touched);
      asm("" : "+r"(number));  // prevents vectorised code, which takes three times as long for a few words
    }
  }
  // Calls visit(block, mask of its bytes) for blocks that are touched in part.
  template <class Visit>
  [[gnu::always_inline]] void ForParts(Visit visit) const {
    const Part* part = storage_->parts;
    for (const Part* const end = part + storage_->parts_count; part != end; ++part) visit(part->block, part->bytes);
  }

 private:
  struct Part {
    uint32_t block;
    uint32_t bytes;
  };
  struct Storage {
    uint32_t first = 0;
    uint32_t count = 0;
    uint32_t room = 0;
    uint32_t parts_count = 0;
    uint32_t parts_room = 0;
    Part* parts = nullptr;

    // Returns two bitmaps, one after the other: a bit for each block touched whole, then a bit for each block touched
    // at all.
    uint64_t* Words() { return reinterpret_cast<uint64_t*>(this + 1); }
    // Adds a block that is touched in part; returns false if there is no memory. Runs come mostly in the order of their
    // addresses. If they do not, a block that they touch twice may be listed twice.
    bool AddPart(Part part) {
      if (parts_count > 0 && parts[parts_count - 1].block == part.block) {
        parts[parts_count - 1].bytes |= part.bytes;
        return true;
      }
      if (parts_count == parts_room) {
        const uint32_t more = parts_room == 0 ? 16 : 2 * parts_room;
        void* const made = realloc(parts, more * sizeof(Part));
        if (made == nullptr) return false;
        parts = static_cast<Part*>(made);
        parts_room = more;
      }
      parts[parts_count++] = part;
      return true;
    }
    // Drops the last block from the parts if its runs together touch the whole block; returns whether they do.
    bool TakeWhole() {
      if (parts[parts_count - 1].bytes != ~0u) return false;
      --parts_count;
      return true;
    }
  };
  static_assert(sizeof(Storage) % alignof(uint64_t) == 0);
  Storage* storage_ = nullptr;
};

}  // namespace gn_twin
