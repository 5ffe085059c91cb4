// Reuse distances of the lines of global memory. They decide whether a line comes from the L2 cache or from HBM.
#pragma once
#include <stdlib.h>

#include "gn_twin/base/abi.h"
#include "gn_twin/base/config.h"

namespace gn_twin {

inline constexpr uint16_t kNoArgument = 0xffff;

// Records, for each line of the arguments, which of its 32-byte pieces writes and cached reads touched, and when the line was touched
// last. The time of a touch is the number of lines that the touching block had moved by then. Blocks run side by side
// on the device but one after the other here, so the distance between the touches of two blocks is the difference of
// their times.
class L2Lines {
 public:
  static constexpr uint32_t kLineBytes = 512;

  explicit L2Lines(const GntJob& job) : args_(job.args), count_(job.arg_count) {
    marks_ = static_cast<Marks*>(calloc(count_ + 1, sizeof(Marks)));
    for (uint32_t i = 0; marks_ != nullptr && i < count_; ++i) {
      if (args_[i].kind != GNT_TENSOR) continue;
      const uint64_t lines = LineOf(i, args_[i].bytes) + 1;
      marks_[i].stamps = static_cast<uint32_t*>(calloc(lines, sizeof(uint32_t)));
      marks_[i].blocks = static_cast<uint16_t*>(calloc(lines, sizeof(uint16_t)));
    }
  }
  ~L2Lines() {
    for (uint32_t i = 0; marks_ != nullptr && i < count_; ++i) {
      free(marks_[i].stamps);
      free(marks_[i].blocks);
    }
    free(marks_);
  }
  L2Lines(const L2Lines&) = delete;
  L2Lines& operator=(const L2Lines&) = delete;

  uint16_t ArgumentOf(const uint8_t* at) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (args_[i].kind == GNT_TENSOR && at >= args_[i].data && at < args_[i].data + args_[i].bytes)
        return static_cast<uint16_t>(i);
    }
    return kNoArgument;
  }
  uint64_t AddressOf(uint16_t argument, const uint8_t* at) const {
    return args_[argument].address + static_cast<uint64_t>(at - args_[argument].data);
  }

  // Sets `low` and `high` to the bounds of an argument in this process, and `model_low` to its start address in the
  // model.
  void Bounds(uint16_t argument, const uint8_t*& low, const uint8_t*& high, uint64_t& model_low) const {
    low = args_[argument].data;
    high = low + args_[argument].bytes;
    model_low = args_[argument].address;
  }

  struct Touched {
    uint32_t lines = 0;
    uint32_t blocks = 0;       // of 32 bytes
    uint32_t cold = 0;         // lines that were never touched before
    uint32_t cold_blocks = 0;  // blocks that were never touched before
    uint32_t reuse_lines = 0;  // the largest distance from a line's last touch
    uint32_t fresh_dirty = 0;  // lines that were never written before
    uint32_t fresh_held = 0;   // lines that the cache holds from now on
  };

  // Adds to `sum` the lines that a read or a write touches. `moved`: the number of lines that the block has moved so
  // far. After a cached read or a write, the cache holds the line. Other reads only count the lines and blocks.
  void Touch(uint16_t argument, const uint8_t* at, uint64_t bytes, bool write, bool cached, uint32_t moved,
             Touched& sum) {
    if (bytes == 0) return;
    const uint64_t first = args_[argument].address % kLineBytes + static_cast<uint64_t>(at - args_[argument].data);
    const uint64_t end = first + bytes;
    for (uint64_t line = first / kLineBytes; line * kLineBytes < end; ++line) {
      const uint64_t start = line * kLineBytes;
      const uint32_t from = first > start ? static_cast<uint32_t>(first - start) / kBlockBytes : 0;
      const uint32_t to = end - start < kLineBytes ? static_cast<uint32_t>(end - start - 1) / kBlockBytes : 15;
      ++sum.lines;
      sum.blocks += to - from + 1;
      if (marks_ == nullptr || marks_[argument].stamps == nullptr || marks_[argument].blocks == nullptr) continue;
      if (!write && !cached) continue;
      const uint32_t bits = (2u << to) - (1u << from);
      uint16_t& touched = marks_[argument].blocks[line];
      sum.cold_blocks += static_cast<uint32_t>(__builtin_popcount(bits & ~uint32_t{touched}));
      touched = static_cast<uint16_t>(touched | bits);
      Stamp(marks_[argument].stamps[line], write, moved, sum);
    }
  }

 private:
  struct Marks {
    uint32_t* stamps;  // one a line: 1 + `moved` of its last touch, and whether the line was written
    uint16_t* blocks;  // one a line: a bit for each 32-byte piece that was touched
  };
  static constexpr uint32_t kDirty = 1;

  static void Stamp(uint32_t& stamp, bool write, uint32_t moved, Touched& sum) {
    if (stamp >> 1 == 0) {
      ++sum.cold;
      ++sum.fresh_held;
    } else {
      const uint32_t then = (stamp >> 1) - 1;
      const uint32_t distance = moved > then ? moved - then : then - moved;
      if (distance > sum.reuse_lines) sum.reuse_lines = distance;
    }
    if (write && (stamp & kDirty) == 0) ++sum.fresh_dirty;
    stamp = (moved + 1) << 1 | (write ? kDirty : stamp & kDirty);
  }
  // Returns the number of a byte's line in its argument, which may start inside a line.
  uint64_t LineOf(uint32_t argument, uint64_t offset) const {
    return (args_[argument].address % kLineBytes + offset) / kLineBytes;
  }

  const GntArg* args_;
  uint32_t count_;
  Marks* marks_ = nullptr;
};

}  // namespace gn_twin
