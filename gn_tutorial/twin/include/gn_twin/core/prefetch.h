// Fetches what the next copy of a loop will touch in global memory, while observers are told of this one.
//
// Between two copies of a bare kernel the processor looks ahead, so that several are under way at once. In an observed one there are
// many instructions between them, and their stores wait for those of the copy. Measured on Zen 4 with benchmarks/twin_modes.py: Add
// over 4 Mi floats, tiles of 1024, takes 2.3 to 2.8 times its bare time without this and 1.3 with it.
#pragma once
#include "gn_twin/base/config.h"

namespace gn_twin {

class CopyAhead {
 public:
  // An argument of at most so many bytes stays in the cache anyway.
  static constexpr uint64_t kStays = 256 * 1024;

  // The copy of a source line touches rows from `at`. Where it came as far behind the one before as that behind its own, so will the next.
  void Follow(uint32_t line, const uint8_t* at, uint32_t rows, uint64_t row_bytes, uint64_t row_pitch) {
    const uintptr_t now = reinterpret_cast<uintptr_t>(at);
    Last& last = last_[line % kLines];
    const uintptr_t step = now - last.at;
    const bool again = step == last.step && step != 0;
    last = {now, step};
    if (again) Fetch(now + step, rows, row_bytes, row_pitch);
  }

 private:
  static constexpr uint32_t kLines = 16;
  static constexpr uint32_t kCacheLine = 64;
  static constexpr uint32_t kMost = 64;  // cache lines; of what is longer the processor fetches the rest itself

  struct Last {
    uintptr_t at = 0;
    uintptr_t step = 0;  // from the one before
  };

  // Into the second-level cache: the first one is small, and the checkers use it. An address that is not there does no harm.
  static void Fetch(uintptr_t at, uint32_t rows, uint64_t row_bytes, uint64_t row_pitch) {
    uint32_t left = kMost;
    for (uint32_t row = 0; row < rows; ++row, at += row_pitch)
      for (uint64_t done = 0; done < row_bytes; done += kCacheLine) {
        if (left-- == 0) return;
        __builtin_prefetch(reinterpret_cast<const void*>(at + done), 0, 2);
      }
  }

  Last last_[kLines];
};

}  // namespace gn_twin
