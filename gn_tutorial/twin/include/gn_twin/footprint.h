// The bytes that one operand of an event touches, as runs of consecutive bytes.
#pragma once
#include "gn_twin/config.h"
#include "gn_twin/event.h"

namespace gn_twin {

// The lanes of repeats of 256 bytes or less, block by block of 32 bytes.
template <class Visit>
void ForStridedRuns(const Event& event, const Operand& operand, Visit visit) {
  const ActiveLanes& active = event.active;
  const uint32_t per_block = kBlockBytes / operand.element_bytes;
  for (uint32_t repeat = 0; repeat < event.repeats; ++repeat) {
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

// Calls visit(const uint8_t* at, uint64_t bytes) for each run, in the order of the instruction.
template <class Visit>
void ForRuns(const Event& event, const Operand& operand, Visit visit) {
  if (operand.strided && event.active.per_repeat != 0) return ForStridedRuns(event, operand, visit);
  if (operand.row_bytes == 0) {
    if (operand.bytes != 0) visit(operand.at, operand.bytes);
    return;
  }
  if (operand.row_pitch == operand.row_bytes) {
    if (operand.rows != 0) visit(operand.at, operand.rows * operand.row_bytes);
    return;
  }
  for (uint32_t row = 0; row < operand.rows; ++row) visit(operand.at + row * operand.row_pitch, operand.row_bytes);
}

}  // namespace gn_twin
