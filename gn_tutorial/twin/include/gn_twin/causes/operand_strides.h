// Adds a cause to a finding about an operand that does not fit, if it would fit with another stride of its repeats or
// rows.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/base/constants.h"
#include "gn_twin/events/field_list.h"

namespace gn_twin {

// The layout of an operand: `repeats` repeats of `lanes` lanes, with strides in blocks of 32 bytes. If row_bytes is not
// 0, it is instead `repeats` rows of row_bytes bytes, which begin row_pitch bytes apart.
struct Layout {
  enum Of : uint8_t {
    Any,
    Spread,      // each block of a repeat has one element of the source
    ValueIndex,  // a row is a value and its index, which a reduction writes on request
    Sorted       // a row is a value and its index, as sorts always write
  };
  uint32_t repeats = 0;
  uint32_t lanes = 0;
  uint32_t blk = 0;
  uint32_t rep = 0;
  uint32_t row_bytes = 0;
  uint32_t row_pitch = 0;
  Of of = Any;
};

// Adds the cause to the fields of a finding about an operand that needs more than the `room` bytes that are there.
class LayoutCause {
 public:
  // Adds the cause if the repeats overlap, or would fit one behind the other.
  GNT_COLD static void Add(const Layout& laid, uint32_t element_bytes, uint64_t room, FieldList& fields) {
    if (Pairs(laid, element_bytes, fields)) return;
    if (laid.row_bytes != 0) return Rows(laid, room, fields);
    if (Spread(laid, room, fields)) return;
    const uint64_t bytes = uint64_t{laid.lanes} * element_bytes;
    const uint64_t blocks = (bytes + kBlockBytes - 1) / kBlockBytes;
    const bool overlap = laid.blk == 1 && laid.rep != 0 && laid.rep < blocks &&
                         ((laid.repeats - 1) * laid.rep + 1) * kBlockBytes <= room;
    const bool dense = bytes != 0 && laid.repeats * blocks * kBlockBytes <= room;
    if (!overlap && (!dense || (laid.rep <= blocks && laid.blk <= 1))) return;
    fields.Add({"cause", overlap ? "repeats-overlap" : "stride-too-long"});
    fields.Add({"repeats", laid.repeats});
    fields.Add({"lanes", laid.lanes});
    fields.Add({"blk_stride", laid.blk});
    fields.Add({"rep_stride", laid.rep});
    fields.Add({"rep_bytes", laid.rep * kBlockBytes});
    fields.Add({"blocks", blocks});
    fields.Add({"dense", laid.repeats * bytes});
    fields.Add({"per_block", kBlockBytes / element_bytes});
  }

 private:
  // Adds the cause if the instruction writes pairs of a value and its index: the buffer is too small for pairs.
  GNT_COLD static bool Pairs(const Layout& laid, uint32_t element_bytes, FieldList& fields) {
    if (laid.row_pitch != laid.row_bytes || (laid.of != Layout::ValueIndex && laid.of != Layout::Sorted)) return false;
    fields.Add({"cause", laid.of == Layout::Sorted ? "sorted-pairs" : "value-and-index"});
    fields.Add({"pairs", laid.repeats});
    fields.Add({"pair_bytes", laid.row_bytes});
    fields.Add({"pair_elements", laid.row_bytes / element_bytes});
    fields.Add({"elements", uint64_t{laid.repeats} * laid.row_bytes / element_bytes});
    return true;
  }

  // Adds the cause if results that lie apart would fit one behind the other.
  GNT_COLD static void Rows(const Layout& laid, uint64_t room, FieldList& fields) {
    if (laid.row_pitch <= laid.row_bytes || uint64_t{laid.repeats} * laid.row_bytes > room) return;
    fields.Add({"cause", "result-stride-out"});
    fields.Add({"results", laid.repeats});
    fields.Add({"result_bytes", laid.row_bytes});
    fields.Add({"pitch", laid.row_pitch});
    fields.Add({"stride", laid.row_pitch / laid.row_bytes});
  }

  // Adds the cause if the repeatTime of an instruction that spreads elements was given as their number. It has to be an
  // eighth of that number.
  GNT_COLD static bool Spread(const Layout& laid, uint64_t room, FieldList& fields) {
    constexpr uint32_t kEach = 8;
    const uint64_t meant = (laid.repeats + kEach - 1) / kEach;
    if (laid.of != Layout::Spread || meant == laid.repeats) return false;
    if (((meant - 1) * laid.rep + (kEach - 1) * laid.blk + 1) * kBlockBytes > room) return false;
    fields.Add({"cause", "spread-repeats"});
    fields.Add({"repeats", laid.repeats});
    fields.Add({"spread", laid.repeats * kEach});
    fields.Add({"meant", meant});
    return true;
  }
};

}  // namespace gn_twin
