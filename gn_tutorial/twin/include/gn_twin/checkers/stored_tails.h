// What DataCopy stores to global memory behind the last value of a tensor: the rest of a block of 32 bytes that nobody wrote.
//
// Kernels round the length of a store up, and let the next store overwrite the rest: that works on a device, where the stores follow
// each other. So the rest is an error only if it is still there when the launch ends.
#pragma once
#include "gn_twin/checkers/memory_report.h"
#include "gn_twin/shadow/row_set.h"

namespace gn_twin {

class StoredTails {
 public:
  // Whether the tail [at, at + bytes) of global memory is looked after: not if there are too many.
  GNT_COLD bool Add(const Core& core, const uint8_t* at, uint64_t bytes, const MissingValue& missing) {
    if (count_ == kMost) return false;
    all_[count_++] = {at, at + bytes, core.block, true, missing};
    return true;
  }
  bool Any() const { return count_ != 0; }
  // A copy to global memory. The one that left a tail is named, too, and does not overwrite it.
  GNT_COLD void OnStore(Core& core, const RowSet& rows) {
    rows.ForEach([&](uintptr_t row, uint64_t bytes) {
      const uint8_t* const begin = reinterpret_cast<const uint8_t*>(row);
      Overwrite(core, begin, begin + bytes);
    });
    for (uint32_t i = 0; i < count_; ++i) all_[i].fresh = false;
  }
  GNT_COLD void Overwrite(Core& core, const uint8_t* begin, const uint8_t* end) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      Tail& tail = all_[i];
      if (!tail.fresh && begin <= tail.at && tail.at < end) tail.at = end < tail.end ? end : tail.end;
      if (tail.at == tail.end)
        ReportOverwritten(core, tail);
      else
        all_[left++] = tail;
    }
    count_ = left;
  }
  // At the end of the launch, with a core of its own.
  GNT_COLD void Report(Core& core) {
    for (uint32_t i = 0; i < count_; ++i) {
      core.block = all_[i].block;
      ReportMissing(core, all_[i].missing);
    }
  }

 private:
  struct Tail {
    const uint8_t* at;
    const uint8_t* end;
    uint32_t block;
    bool fresh;
    MissingValue missing;
  };

  static void ReportOverwritten(Core& core, const Tail& tail) {
    core.Warn("copy-tail-never-written", tail.missing.used, {},
              {{"op", "DataCopy"},
               {"block", tail.block},
               {"buffer_file", tail.missing.buffer.made.file},
               {"buffer_line", tail.missing.buffer.made.line},
               {"buffer_nth", tail.missing.buffer.nth}});
  }

  static constexpr uint32_t kMost = 64;
  Tail all_[kMost];
  uint32_t count_ = 0;
};

}  // namespace gn_twin
