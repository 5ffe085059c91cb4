// The extent of an operand: the parameters of the call that make its bytes, with their units, and how they multiply.
//
// Each form has a row in one table, kExtentForms. A call names the form and gives the values (Operation::Made); the checks
// compute the bytes with the functions below, and a finding prints the values, and for each parameter the one that
// would fit. So a number in a wrong unit shows, whatever the unit was.
#pragma once
#include <stdint.h>

#include "gn_twin/base/config.h"

namespace gn_twin {

// Returns the bytes from the first of `rows` rows to the end of the last one.
constexpr uint64_t BytesOfRows(uint64_t rows, uint64_t row_bytes, uint64_t pitch) {
  return rows == 0 || row_bytes == 0 ? 0 : (rows - 1) * pitch + row_bytes;
}
// Returns the bytes from the start of a repeat to the end of its last lane.
constexpr uint64_t BytesOfLanes(uint64_t lanes, uint64_t blk_stride, uint64_t element_bytes) {
  if (lanes == 0) return 0;
  const uint64_t per_block = kBlockBytes / element_bytes;
  const uint64_t block = (lanes - 1) / per_block;
  // With block stride 0 all blocks are in the same place. If there is more than one, the first is full.
  const uint64_t inside = blk_stride == 0 && block > 0 ? per_block : (lanes - 1) % per_block + 1;
  return block * blk_stride * kBlockBytes + inside * element_bytes;
}
constexpr uint64_t WholeBlockBytes(uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes; }

// Which parameters of a call make an operand.
enum class ExtentForm : uint8_t {
  Unknown,  // no finding prints them
  Count,    // elements in a row
  Blocks,   // rows of DataCopy: blocks of 32 bytes, with gaps of blocks
  Padded,   // rows of DataCopyPad in the Unified Buffer: bytes and padding, in whole blocks, with gaps of blocks
  Bytes,    // rows of DataCopyPad in global memory: bytes, with gaps of bytes
  Repeats,  // lanes of repeats, with strides from start to start
  Results,  // a row of results for each repeat; the second value is the bytes of a row
  Pairs     // pairs of a value and its index
};
enum class ExtentUnit : uint8_t { None, Element, Byte, Block, Result, Pair };

// A parameter. `name`: as documented, behind the operand's role if `of_role`; null for a value that is no parameter.
// `rule`: how it counts, in words.toml. `least`: the smallest value that means anything.
struct ExtentParameter {
  const char* name = nullptr;
  ExtentUnit unit = ExtentUnit::None;
  const char* rule = "";
  uint8_t least = 1;
  bool of_role = false;
};
inline constexpr uint32_t kExtentValues = 5;

// The parameters of each form, in the order of ExtentForm.
inline constexpr struct {
  ExtentParameter parameter[kExtentValues];
} kExtentForms[] = {
    {{}},
    {{{"count", ExtentUnit::Element}}},
    {{{"blockCount"}, {"blockLen", ExtentUnit::Block, "block-len"}, {"Stride", ExtentUnit::Block, "gap", 0, true}}},
    {{{"blockCount"},
      {"blockLen", ExtentUnit::Byte, "byte-len"},
      {"Stride", ExtentUnit::Block, "gap", 0, true},
      {"leftPadding", ExtentUnit::Element, "padding", 0},
      {"rightPadding", ExtentUnit::Element, "padding", 0}}},
    {{{"blockCount"}, {"blockLen", ExtentUnit::Byte, "byte-len"}, {"Stride", ExtentUnit::Byte, "gap", 0, true}}},
    {{{"repeatTime", ExtentUnit::None, "repeat-time"},
      {"mask", ExtentUnit::Element, "mask"},
      {"BlkStride", ExtentUnit::Block, "repeat-stride", 0, true},
      {"RepStride", ExtentUnit::Block, "repeat-stride", 0, true}}},
    {{{"repeatTime", ExtentUnit::None, "results"}, {}, {"dstRepStride", ExtentUnit::Result, "results"}}},
    {{{"elements", ExtentUnit::Pair, "pairs"}}},
};

struct Extent {
  using Form = ExtentForm;
  static constexpr uint32_t kPairBytes = 8;

  uint32_t value[kExtentValues] = {};
  Form form = Form::Unknown;
  uint8_t element_bytes = 1;

  constexpr Extent() = default;
  constexpr Extent(Form form, uint64_t element_bytes, uint64_t first, uint64_t second = 0, uint64_t third = 0,
                   uint64_t fourth = 0, uint64_t fifth = 0)
      : value{Narrow(first), Narrow(second), Narrow(third), Narrow(fourth), Narrow(fifth)},
        form(form),
        element_bytes(static_cast<uint8_t>(element_bytes)) {}

  // Returns the extent of rows of `row_bytes` bytes, `pitch` bytes apart, of which `moved` bytes are copied.
  static constexpr Extent OfRows(Form form, uint64_t element_bytes, uint64_t rows, uint64_t row_bytes, uint64_t pitch,
                                 uint64_t moved) {
    const uint64_t gap = pitch - row_bytes;
    switch (form) {
      case Form::Count: return {form, element_bytes, row_bytes / element_bytes};
      case Form::Blocks: return {form, element_bytes, rows, row_bytes / kBlockBytes, gap / kBlockBytes};
      case Form::Padded: return {form, element_bytes, rows, moved, (pitch - WholeBlockBytes(row_bytes)) / kBlockBytes};
      case Form::Bytes: return {form, element_bytes, rows, row_bytes, gap};
      case Form::Results: return {form, element_bytes, rows, row_bytes, row_bytes == 0 ? 0 : pitch / row_bytes};
      default: return {};
    }
  }

  const ExtentParameter& Parameter(uint32_t index) const {
    return kExtentForms[static_cast<uint32_t>(form)].parameter[index];
  }
  // Returns the bytes from the operand's start to the end of its last byte.
  constexpr uint64_t Bytes() const {
    const uint64_t rows = value[0], length = value[1], gap = value[2];
    switch (form) {
      case Form::Count: return rows * element_bytes;
      case Form::Blocks: return BytesOfRows(rows, length * kBlockBytes, (length + gap) * kBlockBytes);
      case Form::Padded: return BytesOfRows(rows, PaddedBytes(), PaddedBytes() + gap * kBlockBytes);
      case Form::Bytes: return BytesOfRows(rows, length, length + gap);
      case Form::Repeats: return BytesOfRows(rows, BytesOfLanes(length, gap, element_bytes), value[3] * kBlockBytes);
      case Form::Results: return BytesOfRows(rows, length, gap * length);
      case Form::Pairs: return rows * kPairBytes;
      default: return 0;
    }
  }
  // Whether it touches every byte up to its end.
  constexpr bool IsWhole() const {
    const uint64_t row = uint64_t{value[1]} * element_bytes;
    switch (form) {
      case Form::Blocks:
      case Form::Padded:
      case Form::Bytes: return value[0] <= 1 || value[2] == 0;
      case Form::Repeats:
        return (value[2] == 1 || row <= kBlockBytes) && (value[0] <= 1 || value[3] * kBlockBytes <= row);
      case Form::Results: return value[0] <= 1 || value[2] <= 1;
      default: return form != Form::Unknown;
    }
  }
  // Whether the value has an effect: a gap behind the only row has none.
  constexpr bool Matters(uint32_t index) const {
    if (form == Form::Padded && index > 2) return value[index] != 0;
    if (form == Form::Repeats && index == 2) return uint64_t{value[1]} * element_bytes > kBlockBytes;
    return index < 2 || value[0] > 1;
  }
  // Returns the bytes of one unit.
  constexpr uint64_t UnitBytes(ExtentUnit unit) const {
    return unit == ExtentUnit::Element  ? element_bytes
           : unit == ExtentUnit::Block  ? kBlockBytes
           : unit == ExtentUnit::Result ? value[1]
           : unit == ExtentUnit::Pair   ? kPairBytes
                                        : 1;
  }

  static constexpr int64_t kNone = -1;
  // Returns the largest value of a parameter, below the given one, with which the operand would fit into `room` bytes,
  // all others being as they are; kNone if there is none. `written`: the operand is a destination.
  GNT_COLD int64_t Fits(uint32_t index, uint64_t room, bool written) const {
    // The repeats of a destination have places of their own.
    const uint32_t least = written && form == Form::Repeats ? 1 : Parameter(index).least;
    if (form == Form::Padded && !written) {  // a row that is read ends before its padding
      if (index == 1 && value[0] == 1) return room != 0 && room < value[1] ? static_cast<int64_t>(room) : kNone;
      room = WholeBlockBytes(room);
    }
    if (value[index] <= least || With(index, least).Bytes() > room) return kNone;
    // A block that serves all lanes of a repeat: likely only where the repeats would overlap otherwise.
    const bool overlap = value[0] > 1 && value[3] * kBlockBytes < BytesOfLanes(value[1], value[2], element_bytes);
    if (form == Form::Repeats && index == 2 && !overlap) return kNone;
    uint32_t low = least, high = value[index];
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (With(index, middle).Bytes() <= room ? low : high) = middle;
    }
    return With(index, value[index]).Bytes() <= room ? kNone : low;
  }
  // Returns the value of a parameter, nearest to the given one, with which the operand would be the first `bytes` bytes
  // or more, without gaps; kNone if there is none, or if the given one is such a value.
  GNT_COLD int64_t Needs(uint32_t index, uint64_t bytes) const {
    const auto suits = [&](uint64_t number) {
      const Extent other = With(index, number);
      return other.IsWhole() && other.Bytes() >= bytes;
    };
    if (suits(value[index])) return kNone;
    if (form == Form::Repeats && index == 1) {  // a mask has at most the lanes of a repeat
      for (uint32_t lanes = 1; lanes <= kRepeatBytes / element_bytes; ++lanes)
        if (suits(lanes)) return lanes;
      return kNone;
    }
    if (Parameter(index).least != 0) {
      uint64_t low = 0, high = uint64_t{1} << 22;  // more than any operand in the Unified Buffer has
      while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        (With(index, middle).Bytes() >= bytes ? high : low) = middle;
      }
      if (form == Form::Padded && index == 1) high = value[0] == 1 ? bytes : WholeBlockBytes(high);  // not the padding
      return suits(high) ? static_cast<int64_t>(high) : kNone;
    }
    for (int64_t away = 1; away < 256; ++away) {
      if (value[index] >= away && suits(value[index] - away)) return value[index] - away;
      if (suits(value[index] + away)) return value[index] + away;
    }
    return kNone;
  }

 private:
  constexpr uint64_t PaddedBytes() const {
    return value[1] == 0 ? 0 : WholeBlockBytes(value[1] + uint64_t{value[3] + value[4]} * element_bytes);
  }
  static constexpr uint32_t Narrow(uint64_t number) { return static_cast<uint32_t>(number); }
  Extent With(uint32_t index, uint64_t number) const {
    Extent other = *this;
    other.value[index] = Narrow(number);
    return other;
  }
};

}  // namespace gn_twin
