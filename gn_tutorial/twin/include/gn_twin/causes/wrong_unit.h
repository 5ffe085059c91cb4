// Adds a cause to a finding: a number of a call that would fit in another unit, and the unit that was meant.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/field_list.h"

namespace gn_twin {

// One side of a copy as the call gives it, in bytes. `in_blocks`: blockLen counts blocks of 32 bytes, as in DataCopy
// with DataCopyParams. `gap_in_blocks`: the gap counts blocks of 32 bytes; false only for DataCopyPad's gap in global
// memory.
struct CopySide {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t pitch = 0;
  bool in_blocks = false;
  bool gap_in_blocks = true;
};

class UnitCause {
 public:
  // For a side of a copy that does not fit: adds the cause if its length or gap was counted in the wrong unit. `whole`:
  // the bytes of its memory. `room`: the bytes from the side's start to the end of that memory.
  GNT_COLD static void OfCopy(const CopySide& side, uint32_t element_bytes, uint64_t room, uint64_t whole,
                              FieldList& fields) {
    if (side.rows == 0 || side.bytes == 0 || fields.Has("cause")) return;
    if (!Length(side, element_bytes, room, fields) && side.rows > 1) Gap(side, element_bytes, room, whole, fields);
  }

  // For a row of `bytes` bytes that does not fit into `room`: adds the cause if its length was computed for a larger
  // type.
  GNT_COLD static void OfLength(uint64_t bytes, uint32_t element_bytes, uint64_t room, FieldList& fields) {
    for (uint32_t larger = 2 * element_bytes; larger <= 8 && !fields.Has("cause"); larger *= 2) {
      if (room == 0 || bytes * element_bytes != room * larger) continue;
      fields.Add({"cause", "length-of-larger-type"});
      fields.Add({"elements", room / element_bytes});
      fields.Add({"element_bytes", element_bytes});
      fields.Add({"larger", larger});
    }
  }

  // For a tensor that begins behind the end of its buffer: adds the cause if it would fit with the same number as an
  // offset in bytes.
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

  // For `bytes` bytes that do not fit into a buffer of `buffer_bytes`: adds the cause if the number in InitBuffer would
  // be right as a number of elements, or for elements of a smaller type.
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

  // Adds the cause if a row's length counts blocks, and the rows would fit if it counted elements or bytes.
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

  // Adds the cause if a gap counts blocks, and the rows would fit if it counted bytes or elements, or if they would fit
  // with a gap from a row's start instead of its end.
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
        // Any rows fit if they lie close enough. So another gap counts only if the rows then fill the room, or if
        // their pitch divides the memory, as for the rows of a matrix.
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
