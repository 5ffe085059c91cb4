// A number of a call would fit in another unit: which unit was meant, as the cause of a finding.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/field_list.h"

namespace gn_twin {

// What a copy was asked for on one of its sides, in bytes. `in_blocks`: blockLen counted blocks of 32 bytes, as that of DataCopy with
// DataCopyParams does. `gap_in_blocks`: so did the gap, as all do but those of DataCopyPad in global memory.
struct CopySide {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t pitch = 0;
  bool in_blocks = false;
  bool gap_in_blocks = true;
};

class UnitCause {
 public:
  // A side that has room for `room` bytes only, in memory of `whole` bytes.
  GNT_COLD static void OfCopy(const CopySide& side, uint32_t element_bytes, uint64_t room, uint64_t whole,
                              FieldList& fields) {
    if (side.rows == 0 || side.bytes == 0 || fields.Has("cause")) return;
    if (!Length(side, element_bytes, room, fields) && side.rows > 1) Gap(side, element_bytes, room, whole, fields);
  }

  // A row of `bytes` bytes that is counted in bytes, where there is room for `room`: whether as many elements of a larger type were meant.
  GNT_COLD static void OfLength(uint64_t bytes, uint32_t element_bytes, uint64_t room, FieldList& fields) {
    for (uint32_t larger = 2 * element_bytes; larger <= 8 && !fields.Has("cause"); larger *= 2) {
      if (room == 0 || bytes * element_bytes != room * larger) continue;
      fields.Add({"cause", "length-of-larger-type"});
      fields.Add({"elements", room / element_bytes});
      fields.Add({"element_bytes", element_bytes});
      fields.Add({"larger", larger});
    }
  }

  // A tensor of `bytes` bytes that begins behind its buffer of `buffer_bytes`: whether it would fit if its offset counted bytes.
  GNT_COLD static void OfOffset(uint64_t offset, uint64_t bytes, uint32_t element_bytes, uint64_t buffer_bytes,
                                FieldList& fields) {
    const uint64_t meant = offset / element_bytes;
    if (fields.Has("cause") || element_bytes < 2 || offset < buffer_bytes || offset % element_bytes != 0) return;
    if (meant % kBlockBytes != 0 || meant + bytes > buffer_bytes) return;
    fields.Add({"cause", "offset-in-bytes"});
    fields.Add({"element", meant});
    fields.Add({"elements", buffer_bytes / element_bytes});
    fields.Add({"meant", meant / element_bytes});
  }

  // `bytes` bytes from the start of a buffer of `buffer_bytes`: whether the buffer would do if the number in InitBuffer counted
  // elements, or has as many elements of a smaller type.
  GNT_COLD static void OfBuffer(uint64_t bytes, uint32_t element_bytes, uint64_t buffer_bytes, FieldList& fields) {
    if (element_bytes < 2 || bytes % element_bytes != 0 || fields.Has("cause")) return;
    const uint64_t elements = bytes / element_bytes;
    for (uint32_t other = element_bytes / 2; other > 0; other /= 2) {
      if ((elements * other + kBlockBytes - 1) / kBlockBytes * kBlockBytes != buffer_bytes) continue;
      fields.Add({"cause", other == 1 ? "buffer-in-elements" : "buffer-of-smaller-type"});
      fields.Add({"elements", elements});
      fields.Add({"element_bytes", element_bytes});
      fields.Add({"smaller_bytes", other});
      fields.Add({"needed", bytes});
      return;
    }
  }

 private:
  static uint64_t Extent(const CopySide& side, uint64_t bytes, uint64_t gap) {
    return (side.rows - 1) * (bytes + gap) + bytes;
  }

  // A row length in blocks that was meant to be in elements or in bytes.
  static bool Length(const CopySide& side, uint32_t element_bytes, uint64_t room, FieldList& fields) {
    if (!side.in_blocks) return false;
    const uint64_t number = side.bytes / kBlockBytes;
    uint64_t meant = 0;
    for (const uint64_t bytes : {number * element_bytes, number}) {
      if (bytes % kBlockBytes != 0 || Extent(side, bytes, side.pitch - side.bytes) > room) continue;
      if (meant == 0 || Extent(side, bytes, side.pitch - side.bytes) == room) meant = bytes;
    }
    if (meant == 0) return false;
    fields.Add({"cause", "block-len-unit"});
    fields.Add({"block_len", number});
    fields.Add({"row_bytes", side.bytes});
    fields.Add({"counted", meant == number ? "bytes" : "elements"});
    fields.Add({"meant_bytes", meant});
    fields.Add({"meant", meant / kBlockBytes});
    return true;
  }

  // A gap that was meant to be in bytes or elements where it counts blocks, or to run from the start of a row, and not from its end.
  static void Gap(const CopySide& side, uint32_t element_bytes, uint64_t room, uint64_t whole, FieldList& fields) {
    const uint64_t gap = side.pitch - side.bytes;
    const uint64_t unit = side.gap_in_blocks ? kBlockBytes : 1;
    const uint64_t number = gap / unit;
    const struct {
      const char* counted;
      uint64_t bytes;
    } readings[] = {{"", gap}, {"bytes", number}, {"elements", number * element_bytes}};
    for (const bool from_start : {false, true}) {
      for (const auto& reading : readings) {
        const bool other_unit = reading.counted[0] != '\0';
        if (from_start ? reading.bytes < side.bytes : !other_unit) continue;
        if (other_unit && !side.gap_in_blocks) continue;
        const uint64_t meant = reading.bytes - (from_start ? side.bytes : 0);
        // Rows that lie closer fit sooner or later: these fill the room, or divide the memory, as the rows of a matrix do.
        if (meant % unit != 0 || Extent(side, side.bytes, meant) > room) continue;
        if (Extent(side, side.bytes, meant) != room && whole % (side.bytes + meant) != 0) continue;
        fields.Add({"cause", from_start ? "gap-from-start" : "gap-unit"});
        fields.Add({"gap", number});
        fields.Add({"gap_bytes", gap});
        fields.Add({"gap_unit", side.gap_in_blocks ? "blocks of 32 bytes" : "bytes"});
        fields.Add({"counted", other_unit ? reading.counted : unit == 1 ? "bytes" : "blocks of 32 bytes"});
        fields.Add({"row_bytes", side.bytes});
        fields.Add({"meant", meant / unit});
        fields.Add({"meant_bytes", meant});
        return;
      }
    }
  }
};

}  // namespace gn_twin
