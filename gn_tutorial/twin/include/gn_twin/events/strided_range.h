// A strided range of the Unified Buffer: rows at a pitch, in groups at another pitch.
#pragma once
#include "gn_twin/base/config.h"

namespace gn_twin {

// Bytes of the Unified Buffer, counted from its start.
struct LocalRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Rows at a pitch, in groups at another pitch. Strided ranges that compare equal cover the same bytes. Rows of a group
// do not overlap; groups may.
struct StridedRange {
  LocalRange range;    // encloses all rows, and begins with the first
  uint32_t bytes = 0;  // of a row
  uint32_t step = 0;   // bytes from row to row of a group
  uint32_t rows = 0;   // number of rows of a group
  uint32_t group_step = 0;
  uint32_t groups = 0;

  StridedRange() = default;
  // Makes a range of one row.
  StridedRange(LocalRange range) : range(range), bytes(range.end - range.begin), rows(1), groups(1) {}
  // Joins rows without gaps, and groups that continue at the rows' step. row_bytes and both counts must not be 0.
  StridedRange(uint32_t begin, uint32_t row_bytes, uint32_t row_step, uint32_t row_count, uint32_t step_of_groups,
               uint32_t group_count)
      : bytes(row_bytes),
        step(row_step),
        rows(row_count),
        group_step(step_of_groups),
        groups(step_of_groups == 0 ? 1 : group_count) {
    Join();
    if (groups == 1 || rows == 1 || group_step == step * rows) {
      if (rows == 1) step = group_step;
      rows *= groups;
      group_step = 0;
      groups = 1;
      Join();
    }
    range = {begin, begin + (groups - 1) * group_step + (rows - 1) * step + bytes};
  }
  bool operator==(const StridedRange& other) const {
    return range.begin == other.range.begin && range.end == other.range.end && bytes == other.bytes &&
           step == other.step && rows == other.rows && group_step == other.group_step && groups == other.groups;
  }

  // Whether the range has gaps.
  bool HasGaps() const { return bytes != range.end - range.begin; }
  bool Covers(const StridedRange& other) const {
    return !HasGaps() && range.begin <= other.range.begin && other.range.end <= range.end;
  }
  // Merges `next` and returns true if `next` begins where this range ends and neither has gaps; else returns false.
  bool Append(const StridedRange& next) {
    if (next.range.begin != range.end || HasGaps() || next.HasGaps()) return false;
    *this = LocalRange{range.begin, next.range.end};
    return true;
  }
  // Calls `visit` with the range of each row, group by group.
  template <class Visit>
  [[gnu::always_inline]] void ForEach(Visit visit) const {
    for (uint32_t group = 0; group < groups; ++group) {
      uint32_t at = range.begin + group * group_step;
      for (uint32_t row = 0; row < rows; ++row, at += step) visit(LocalRange{at, at + bytes});
    }
  }
  // Returns the lowest byte that a row shares with `other`; other.end if no row overlaps `other`.
  GNT_NOINLINE uint32_t FirstIn(LocalRange other) const {
    uint32_t first = other.end;
    for (uint32_t group = 0; group < groups; ++group) {
      const uint32_t start = range.begin + group * group_step;
      // The first row that ends after `other` begins.
      const uint32_t row = other.begin < start + bytes ? 0 : rows == 1 ? 1 : (other.begin - start - bytes) / step + 1;
      if (row >= rows) continue;
      const uint32_t begin = start + row * step;
      const uint32_t shared = begin < other.begin ? other.begin : begin;
      first = shared < first ? shared : first;
    }
    return first;
  }

 private:
  // Merges the rows of a group into one row if there are no gaps between them.
  void Join() {
    if (rows > 1 && step > bytes) return;
    bytes += (rows - 1) * step;
    step = 0;
    rows = 1;
  }
};

}  // namespace gn_twin
