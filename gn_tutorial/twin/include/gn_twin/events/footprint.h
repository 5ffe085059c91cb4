// The bytes that one operand of an event touches, as runs of consecutive bytes.
#pragma once
#include "gn_twin/base/config.h"
#include "gn_twin/events/event.h"
#include "gn_twin/events/strided_range.h"

namespace gn_twin {

// Returns the extent of an operand, by the parameters that made it; an unknown one if they do not make all of its bytes.
inline Extent ExtentOf(const Event& event, const Operand& operand) {
  const uint32_t bytes = operand.element_bytes;
  Extent extent;
  if (operand.made == Extent::Form::Repeats) {
    extent = {operand.made, bytes, event.repeats, event.active.first, operand.blk_stride, operand.rep_stride};
  } else if (operand.made == Extent::Form::Pairs) {
    extent = {operand.made, bytes, operand.bytes / Extent::kPairBytes};
  } else if (operand.row_bytes == 0) {
    extent = Extent::OfRows(operand.made, bytes, 1, operand.bytes, operand.bytes, operand.bytes);
  } else {
    uint64_t moved = operand.row_bytes;
    for (uint8_t i = 0; i < event.operands; ++i)
      if (event.operand[i].space == Space::GM) moved = event.operand[i].row_bytes;
    extent = Extent::OfRows(operand.made, bytes, operand.rows, operand.row_bytes, operand.row_pitch, moved);
  }
  // The last row of a DataCopyPad out of the Unified Buffer ends before its block does.
  const uint64_t end = operand.made == Extent::Form::Padded ? WholeBlockBytes(operand.bytes) : operand.bytes;
  return extent.Bytes() == end ? extent : Extent{};
}

// Calls visit(address, bytes) for active lanes of an operand with strides, at most one repeat at a time. kOnce: visits
// once the bytes that all repeats share (stride 0) and, without a bit mask, those that all blocks of a repeat share.
template <bool kOnce = false, class Visit>
void ForStridedRuns(const Event& event, const Operand& operand, Visit visit) {
  const ActiveLanes& active = event.active;
  const uint32_t per_block = kBlockBytes / operand.element_bytes;
  const uint32_t repeats = kOnce && operand.rep_stride == 0 && event.repeats > 1 ? 1 : event.repeats;
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const uint8_t* start = operand.at + uint64_t{repeat} * operand.rep_stride * kBlockBytes;
    const uint32_t lanes = !active.prefix ? active.per_repeat : repeat + 1 < event.repeats ? active.first : active.last;
    if (active.prefix && operand.blk_stride == 1) {
      if (lanes != 0) visit(start, uint64_t{lanes} * operand.element_bytes);
      continue;
    }
    for (uint32_t lane = 0; lane < lanes; lane += per_block) {
      const uint8_t* block = start + uint64_t{lane / per_block} * operand.blk_stride * kBlockBytes;
      const uint32_t end = lanes - lane < per_block ? lanes - lane : per_block;
      if (active.prefix) {
        visit(block, uint64_t{end} * operand.element_bytes);
        if (kOnce && operand.blk_stride == 0) break;
        continue;
      }
      for (uint32_t i = 0; i < end; ++i) {
        const uint32_t bit = lane + i;
        if (((bit < 64 ? active.low >> bit : active.high >> (bit - 64)) & 1) != 0)
          visit(block + i * operand.element_bytes, uint64_t{operand.element_bytes});
      }
    }
  }
}

// Returns how many bytes an operand has if it is clearly one run from operand.at on; 0 for every other operand.
inline uint64_t OneRun(const Event& event, const Operand& operand) {
  const ActiveLanes& active = event.active;
  if (operand.pieces != nullptr) return 0;
  if (operand.strided && active.per_repeat != 0) {
    if (!active.prefix || operand.blk_stride != 1 || event.repeats == 0) return 0;
    const uint64_t pitch = uint64_t{operand.rep_stride} * kBlockBytes;
    if (event.repeats > 1 && pitch != uint64_t{active.first} * operand.element_bytes) return 0;
    return (event.repeats - 1) * pitch + uint64_t{active.last} * operand.element_bytes;
  }
  if (operand.row_bytes == 0) return operand.bytes;
  return operand.rows == 1 || operand.row_pitch == operand.row_bytes ? operand.rows * operand.row_bytes : 0;
}

// Sets `rows` to the bytes of an operand at offset `begin` of the Unified Buffer; returns false if they are not rows at
// a pitch.
inline bool AsStridedRange(const Event& event, const Operand& operand, uint32_t begin, StridedRange& rows) {
  const ActiveLanes& active = event.active;
  if (const uint64_t whole = OneRun(event, operand); whole != 0) {
    rows = LocalRange{begin, begin + static_cast<uint32_t>(whole)};
    return true;
  }
  if (operand.pieces != nullptr) return false;
  if (!operand.strided || active.per_repeat == 0) {
    if (operand.row_bytes == 0 || operand.rows == 0) return false;
    rows = {begin, static_cast<uint32_t>(operand.row_bytes), static_cast<uint32_t>(operand.row_pitch), operand.rows, 0,
            1};
    return true;
  }
  if (!active.prefix || event.repeats == 0 || active.last == 0 || (event.repeats > 1 && active.first != active.last))
    return false;
  const uint32_t block = operand.blk_stride * kBlockBytes;
  const uint32_t repeat = operand.rep_stride * kBlockBytes;
  const uint32_t bytes = active.last * operand.element_bytes;
  if (operand.blk_stride == 1 || bytes <= kBlockBytes) {
    rows = {begin, bytes, repeat, event.repeats, 0, 1};
  } else if (bytes % kBlockBytes == 0 || operand.blk_stride == 0) {
    rows = {begin, kBlockBytes, block, bytes / kBlockBytes, repeat, event.repeats};
  } else {
    return false;
  }
  return true;
}

// Calls visit(const uint8_t* at, uint64_t bytes) for each run, in the order of the instruction.
template <class Visit>
void ForRuns(const Event& event, const Operand& operand, Visit visit) {
  const uint64_t whole = OneRun(event, operand);
  if (whole != 0) return visit(operand.at, whole);
  if (operand.pieces != nullptr) {
    for (uint32_t i = 0; i < operand.rows; ++i) visit(operand.at + operand.pieces[i], operand.row_bytes);
    return;
  }
  if (operand.strided && event.active.per_repeat != 0) return ForStridedRuns(event, operand, visit);
  if (operand.row_bytes == 0) return;
  for (uint32_t row = 0; row < operand.rows; ++row) visit(operand.at + row * operand.row_pitch, operand.row_bytes);
}

// Calls visit for the same bytes as ForRuns, but in any order. If repeats or blocks share their bytes (stride 0), does
// what ForStridedRuns<true> does.
template <class Visit>
void ForBytes(const Event& event, const Operand& operand, Visit visit) {
  const bool shared = operand.strided && event.active.per_repeat != 0 && operand.pieces == nullptr &&
                      (operand.rep_stride == 0 || operand.blk_stride == 0);
  if (!shared) return ForRuns(event, operand, visit);
  ForStridedRuns<true>(event, operand, visit);
}

}  // namespace gn_twin
