// Notes the copies of DataCopyPad into the Unified Buffer that fill each row up to a multiple of 32 bytes. It keeps the
// latest four combinations of row length and pitch.
#pragma once
#include "gn_twin/base/config.h"
#include "gn_twin/base/loc.h"

namespace gn_twin {

struct PaddedRows {
  // Rows of `bytes` bytes without their padding, which begin `pitch` bytes apart.
  struct Copy {
    uint64_t bytes = 0;
    uint64_t pitch = 0;
    Loc loc;
  };
  static constexpr uint32_t kMost = 4;
  Copy all[kMost];
  uint32_t next = 0;

  GNT_COLD void Note(const Copy& copy) {
    for (const Copy& one : all)
      if (one.bytes == copy.bytes && one.pitch == copy.pitch) return;
    all[next++ % kMost] = copy;
  }
  // Returns a copy whose row length, without padding, divides `offset`, which is in bytes. Returns null if there is no
  // such copy or `offset` is 0. If there is one, the kernel has probably computed the offset without the padding.
  GNT_COLD const Copy* CountedBy(uint64_t offset) const {
    for (const Copy& one : all)
      if (one.bytes != 0 && offset % one.bytes == 0 && offset != 0) return &one;
    return nullptr;
  }
};

}  // namespace gn_twin
