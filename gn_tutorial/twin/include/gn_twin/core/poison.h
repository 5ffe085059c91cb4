// Poison: the contents of outputs and workspaces before they are written, so that a missing write shows. All threads of
// a launch fill large arrays, because one thread does not use the full memory bandwidth.
#pragma once
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include "gn_twin/base/abi.h"
#include "gn_twin/base/config.h"

namespace gn_twin {

// Fills memory with repetitions of `word`, the first at `at`. Uses memcpy, because in builds with little
// optimisation a loop over words takes several times as long.
GNT_COLD inline void FillWithPoison(uint8_t* at, uint64_t bytes, uint64_t word) {
  constexpr uint64_t kPiece = 4096;
  uint64_t words[kPiece / sizeof(uint64_t)];
  const uint64_t first = bytes < kPiece ? bytes : kPiece;
  for (uint64_t i = 0; i * sizeof(word) < first; ++i) words[i] = word;
  uint64_t done = 0;
  for (; done + kPiece <= bytes; done += kPiece) __builtin_memcpy(at + done, words, kPiece);
  __builtin_memcpy(at + done, words, bytes - done);
}

inline bool HoldsPoison(GntRole role) { return role == GNT_OUT || role == GNT_WORKSPACE; }

// The poison of one launch, in chunks for any number of threads.
class Poisoning {
 public:
  // Counts the chunks of the job's outputs and workspaces; there are none if the job does not ask for poison.
  explicit Poisoning(const GntJob& job) : job_(job) {
    if (job.poisons == 0) return;
    for (uint32_t i = 0; i < job.arg_count; ++i) chunks_ += Chunks(job.args[i]);
  }
  Poisoning(const Poisoning&) = delete;
  Poisoning& operator=(const Poisoning&) = delete;

  // Fills the remaining chunks, and waits for those that others are filling.
  GNT_COLD void Help() {
    for (uint64_t mine; (mine = __atomic_fetch_add(&next_, 1, __ATOMIC_RELAXED)) < chunks_;) {
      Fill(mine);
      if (__atomic_add_fetch(&done_, 1, __ATOMIC_ACQ_REL) == chunks_) clock_gettime(CLOCK_MONOTONIC, &finished_);
    }
    while (__atomic_load_n(&done_, __ATOMIC_ACQUIRE) < chunks_) sched_yield();
  }
  // Returns the time when the last chunk was filled, in nanoseconds of CLOCK_MONOTONIC; 0 if there was no chunk.
  uint64_t FinishedAt() const {
    return static_cast<uint64_t>(finished_.tv_sec) * 1000000000u + static_cast<uint64_t>(finished_.tv_nsec);
  }

 private:
  static constexpr uint64_t kChunk = 256 * 1024;  // ten microseconds of work, the longest wait for the last chunk

  static uint64_t Chunks(const GntArg& arg) {
    return arg.kind == GNT_TENSOR && HoldsPoison(arg.role) ? (arg.bytes + kChunk - 1) / kChunk : 0;
  }
  void Fill(uint64_t chunk) {
    const GntArg* arg = job_.args;
    for (uint64_t own; (own = Chunks(*arg)) <= chunk; ++arg) chunk -= own;
    const uint64_t begin = chunk * kChunk, left = arg->bytes - begin;
    FillWithPoison(arg->data + begin, left < kChunk ? left : kChunk, arg->poison);
  }

  const GntJob& job_;
  uint64_t chunks_ = 0;
  uint64_t next_ = 0;
  uint64_t done_ = 0;
  timespec finished_ = {};
};

}  // namespace gn_twin
