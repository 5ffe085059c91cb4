// Maps the pages of large tensors and fills outputs with their poison before the kernel runs, on as many threads as are
// worthwhile.
//
// If the first access to a page is a write, Linux maps this page alone. That takes several times as long as using it.
// If the first access is a read, Linux also maps up to fifteen pages around this page, and all of them can then be
// written. (MADV_POPULATE_READ, which checks each page again, takes 1.5 times as long.)
#pragma once
#include <stdint.h>
#include <sys/mman.h>

#include "gn_twin/core/poison.h"
#include "gn_twin/core/team.h"
#include "job_file.h"

namespace launcher {

class PagesToPrepare {
 public:
  PagesToPrepare(JobFile* file, const GntJob& job)
      : rows_(reinterpret_cast<const JobFileArg*>(reinterpret_cast<uint8_t*>(file) + file->args_at)), job_(job) {
    for (uint32_t i = 0; i < job.arg_count; ++i) {
      chunks_ += Chunks(rows_[i]);
      bytes_ += rows_[i].pages_bytes;
    }
  }

  uint32_t Threads() const {
    constexpr uint64_t kShare = uint64_t{4} << 20;  // preparing it takes 1 ms; starting a thread takes 50 us
    const uint64_t worth = bytes_ / kShare, usable = gn_twin::UsableProcessors();
    const uint64_t most = usable < kMostThreads ? usable : kMostThreads;
    return static_cast<uint32_t>(worth < 1 ? 1 : worth < most ? worth : most);
  }

  void Work() {
    for (uint64_t mine; (mine = __atomic_fetch_add(&next_, 1, __ATOMIC_RELAXED)) < chunks_;) Prepare(mine);
  }

 private:
  static constexpr uint64_t kChunk = uint64_t{2} << 20;
  static constexpr uint64_t kMappedTogether = 64 * 1024;  // the default fault_around_bytes of Linux
  static constexpr uint64_t kMostThreads = 8;             // more threads gain no memory bandwidth

  static uint64_t Chunks(const JobFileArg& row) { return (row.pages_bytes + kChunk - 1) / kChunk; }

  void Prepare(uint64_t chunk) {
    uint32_t i = 0;
    for (uint64_t own; (own = Chunks(rows_[i])) <= chunk; ++i) chunk -= own;
    const JobFileArg& row = rows_[i];
    uint8_t* const pages = reinterpret_cast<uint8_t*>(row.pages_address);
    uint8_t* const begin = pages + chunk * kChunk;
    uint8_t* const end = pages + row.pages_bytes;
    uint8_t* const stop = begin + kChunk < end ? begin + kChunk : end;
    for (uint8_t* at = begin; at < stop; at += kMappedTogether) (void)*const_cast<volatile uint8_t*>(at);
    const GntArg& arg = job_.args[i];
    if (!gn_twin::HoldsPoison(arg.role) || arg.data == nullptr) return;
    // The array lies inside its pages. It begins at a multiple of 512 bytes, as chunks do, so each chunk begins with a
    // whole word of poison.
    uint8_t* const from = begin > arg.data ? begin : arg.data;
    uint8_t* const to = arg.data + arg.bytes;
    uint8_t* const until = stop < to ? stop : to;
    if (from < until) gn_twin::FillWithPoison(from, static_cast<uint64_t>(until - from), arg.poison);
  }

  const JobFileArg* rows_;
  const GntJob& job_;
  uint64_t chunks_ = 0;
  uint64_t bytes_ = 0;
  uint64_t next_ = 0;
};

inline void PreparePages(JobFile* file, const GntJob& job) {
  PagesToPrepare pages(file, job);
  gn_twin::Team::Run(pages.Threads(), [](void* all) { static_cast<PagesToPrepare*>(all)->Work(); }, &pages);
}

}  // namespace launcher
