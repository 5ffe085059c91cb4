// Bytes of global memory as rows at a regular pitch: one copy, or the many accesses of a loop gathered into one shape.
#pragma once
#include "gn_twin/base/config.h"
#include "gn_twin/events/event.h"

namespace gn_twin {

struct RowSet {
  uintptr_t at = 0;        // address of the first row
  uint64_t row_bytes = 0;  // bytes of each row
  uint64_t pitch = 0;      // from row to row; at least row_bytes where count > 1
  uint64_t count = 0;

  uintptr_t End() const { return count == 0 ? at : at + (count - 1) * pitch + row_bytes; }

  // Returns the rows of a copy's operand in global memory.
  static RowSet Of(const Operand& operand) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(operand.at);
    return operand.row_bytes == 0 ? Of(at, operand.bytes, operand.bytes, 1)
                                  : Of(at, operand.row_bytes, operand.row_pitch, operand.rows);
  }
  // Returns the given rows. Rows without gaps become one row.
  static RowSet Of(uintptr_t at, uint64_t row_bytes, uint64_t row_pitch, uint64_t rows) {
    if (row_pitch != row_bytes) return {at, row_bytes, row_pitch, rows};
    const uint64_t bytes = rows * row_bytes;
    return {at, bytes, bytes, bytes == 0 ? 0u : 1u};
  }
  // Calls visit(address of a row, its bytes).
  template <class Visit>
  void ForEach(Visit visit) const {
    for (uint64_t row = 0; row < count; ++row) visit(at + row * pitch, row_bytes);
  }

  // Merges `next` and returns true if it continues these rows in one of the ways of a loop: the same bytes again, the
  // next bytes, one row further, the next column of the same rows. The result is again rows at a regular pitch.
  // Otherwise changes nothing and returns false.
  GNT_NOINLINE bool Absorb(const RowSet& next) {
    if (next.count == 0) return true;
    if (count == 1 && next.count == 1) {
      if (next.at >= at && next.at <= at + row_bytes) {
        const uintptr_t end = next.at + next.row_bytes;
        if (end > at + row_bytes) row_bytes = end - at;
        return true;
      }
      if (next.row_bytes != row_bytes || next.at < at) return false;
      pitch = next.at - at;
      count = 2;
      return true;
    }
    if (next.row_bytes != row_bytes || (next.count > 1 && next.pitch != pitch)) return NextColumn(next);
    if (next.count == 1 && count > 1 && next.at == at + count * pitch) {  // the usual case in loops, without a division
      ++count;
      return true;
    }
    if (count > 1 && next.at >= at && (next.at - at) % pitch == 0) {
      const uint64_t first = (next.at - at) / pitch;
      if (first > count) return false;
      count = count < first + next.count ? first + next.count : count;
      return true;
    }
    return NextColumn(next);
  }

  // Returns the address of the first byte that both row sets contain, or 0.
  GNT_NOINLINE uintptr_t Common(const RowSet& other) const {
    if (other.at >= End() || at >= other.End()) return 0;
    if (count > other.count) return other.Common(*this);
    if (count > 1 && pitch == other.pitch) {  // two columns that do not overlap in any row
      const uint64_t ahead = (other.at > at ? other.at - at : pitch - (at - other.at) % pitch) % pitch;
      if (ahead >= row_bytes && pitch - ahead >= other.row_bytes) return 0;
    }
    for (uint64_t row = 0; row < count; ++row) {
      const uintptr_t begin = at + row * pitch;
      const uintptr_t end = begin + row_bytes;
      if (begin >= other.End()) return 0;
      if (end <= other.at) continue;
      // The first row of `other` that ends after this row begins.
      const uint64_t behind =
          begin < other.at + other.row_bytes ? 0 : (begin - other.at - other.row_bytes) / other.pitch + 1;
      if (behind >= other.count) continue;
      const uintptr_t theirs = other.at + behind * other.pitch;
      if (theirs < end) return theirs > begin ? theirs : begin;
    }
    return 0;
  }

 private:
  bool NextColumn(const RowSet& next) {
    if (next.count != count || (count > 1 && next.pitch != pitch) || next.at != at + row_bytes) return false;
    if (row_bytes + next.row_bytes > pitch) return false;
    row_bytes += next.row_bytes;
    if (row_bytes == pitch) *this = {at, row_bytes * count, row_bytes * count, 1};
    return true;
  }
};

}  // namespace gn_twin
