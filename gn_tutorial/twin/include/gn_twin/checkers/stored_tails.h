// The checker of tails. A tail is bytes without a value that a DataCopy stores to global memory: the rest of a 32-byte
// block after a tensor's last value.
//
// Kernels round the length of a store up, and let the next store overwrite the tail. That works on a device if the
// stores follow each other. So an overwritten tail gives only a warning. A tail that is still there when the launch
// ends is reported like any missing value.
#pragma once
#include "gn_twin/checkers/memory_report.h"
#include "gn_twin/shadow/row_set.h"

namespace gn_twin {

class StoredTails {
 public:
  // Remembers the tail [at, at + bytes) of global memory; returns false if there are too many.
  GNT_COLD bool Add(const Core& core, const uint8_t* at, uint64_t bytes, const MissingValue& missing) {
    if (count_ == kMost) return false;
    all_[count_++] = {at, at + bytes, core.block, true, missing};
    return true;
  }
  bool Any() const { return count_ != 0; }
  // Handles a copy to global memory. The copy that left a tail comes here, too, but does not count as overwriting it.
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
  // Reports the tails that are left at the end of the launch. core: a Core made for this report; its block is changed.
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
