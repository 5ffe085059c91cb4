// The checker of instructions whose sources and destination overlap in a way that the documentation forbids.
//
// Inside a repeat, a source and the destination must be the same bytes, or not overlap. No repeat may read what an
// earlier one wrote. There is one exception: Add, Sub, Mul, Max, Min, AddRelu and SubRelu on half, int32_t and float
// may have the destination as second source if one of the two has the repeat stride 0.
// Source: docs/zh/api, 通用说明和约束 (通用地址重叠约束). The operands of a Cast to another element size may overlap inside a repeat,
// because the documentation of Cast restricts only what a later repeat would read.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/footprint.h"

namespace gn_twin {

class OverlapChecker final : public Observer {
 public:
  Kinds Wants() const override { return KindsOf(Kind::Vector); }
  void OnEvent(Core& core, const Event& event) override {
    if (!IsLaneByLane(event.flow) || event.operands < 2) return;
    const Operand& dst = event.operand[0];
    for (uint8_t i = 1; i < event.operands; ++i) {
      const Operand& source = event.operand[i];
      if (source.at >= dst.at + dst.bytes || dst.at >= source.at + source.bytes) continue;
      if (source.at == dst.at && source.element_bytes == dst.element_bytes && SameLayout(source, dst)) {
        if (event.repeats > 1 && dst.strided && dst.rep_stride == 0) Accumulate(core, event, dst, source);
        continue;
      }
      if (source.pieces != nullptr || !Forbidden(event, dst, source)) continue;
      RepeatsRow(event, dst, source) ? Warn(core, event) : Report(core, event, dst, source);
    }
  }

 private:
  // Whether both operands have the same layout. If they do, they may be the same bytes: each repeat then works on bytes
  // of its own, or all repeats work on the same bytes (stride 0).
  static bool SameLayout(const Operand& a, const Operand& b) {
    if (!a.strided) return a.row_pitch == b.row_pitch;
    return a.blk_stride == b.blk_stride && a.rep_stride == b.rep_stride;
  }

  // The bytes [begin, end) that one repeat of the operand touches at most, as addresses.
  struct Span {
    uint64_t begin;
    uint64_t end;
    bool Overlaps(Span other) const { return begin < other.end && other.begin < end; }
  };
  static Span SpanOf(const Event& event, const Operand& operand, uint32_t repeat) {
    const uint64_t at = reinterpret_cast<uint64_t>(operand.at);
    const uint64_t lanes = kRepeatBytes / (event.element_bytes != 0 ? event.element_bytes : 1);
    if (!operand.strided) {
      const uint64_t begin = at + repeat * lanes * operand.element_bytes;
      const uint64_t end = begin + lanes * operand.element_bytes;
      return {begin, end < at + operand.bytes ? end : at + operand.bytes};
    }
    const ActiveLanes& active = event.active;
    const uint32_t count = !active.prefix ? active.per_repeat : repeat + 1 < event.repeats ? active.first : active.last;
    const uint64_t begin = at + uint64_t{repeat} * operand.rep_stride * kBlockBytes;
    if (count == 0) return {begin, begin};
    const uint32_t per_block = kBlockBytes / operand.element_bytes;
    const uint64_t block = (count - 1) / per_block;
    const uint64_t inside = ((count - 1) % per_block + 1) * operand.element_bytes;
    return {begin, begin + block * operand.blk_stride * kBlockBytes + inside};
  }

  GNT_COLD static bool Forbidden(const Event& event, const Operand& dst, const Operand& source) {
    if (dst.row_bytes != 0) return RowsOverlap(dst, source);  // a copy inside the Unified Buffer
    if (Accumulates(event, dst, source)) return false;
    // Blocks and lanes with gaps may interleave without overlapping.
    if (source.blk_stride != 1 || dst.blk_stride != 1 || (event.active.per_repeat != 0 && !event.active.prefix))
      return false;
    const bool cast = source.element_bytes != dst.element_bytes && source.element_bytes != 1;  // 1: Select's mask bits
    for (uint32_t repeat = 0; repeat < event.repeats; ++repeat) {
      const Span written = SpanOf(event, dst, repeat);
      const Span read = SpanOf(event, source, repeat);
      if (!cast && written.begin != read.begin && written.Overlaps(read)) return true;
      for (uint32_t later = repeat + 1; later < event.repeats; ++later) {
        const Span next = SpanOf(event, source, later);
        if (written.Overlaps(next)) return true;
        if (next.begin >= written.end) break;
      }
    }
    return false;
  }

  static bool RowsOverlap(const Operand& dst, const Operand& source) {
    for (uint32_t i = 0; i < dst.rows; ++i) {
      const uint8_t* written = dst.at + i * dst.row_pitch;
      for (uint32_t j = 0; j < source.rows; ++j) {
        const uint8_t* read = source.at + j * source.row_pitch;
        if (written < read + source.row_bytes && read < written + dst.row_bytes) return true;
        if (read >= written + dst.row_bytes) break;
      }
    }
    return false;
  }

  static bool Accumulates(const Event& event, const Operand& dst, const Operand& source) {
    static constexpr const char* kNames[] = {"Add", "Sub", "Mul", "Max", "Min", "AddRelu", "SubRelu"};
    if (source.role[0] != 's' || __builtin_strcmp(source.role, "src1") != 0) return false;
    if (source.at != dst.at || (dst.rep_stride != 0 && source.rep_stride != 0)) return false;
    for (const char* name : kNames)
      if (__builtin_strcmp(event.op, name) == 0) return true;
    return false;
  }

  // Whether the call is a Copy of the first row to all rows, so that this row is written onto itself.
  static bool RepeatsRow(const Event& event, const Operand& dst, const Operand& source) {
    return source.at == dst.at && source.strided && source.rep_stride == 0 && source.blk_stride == dst.blk_stride &&
           SpanOf(event, dst, 1).begin >= SpanOf(event, source, 0).end && __builtin_strcmp(event.op, "Copy") == 0;
  }
  GNT_COLD static void Warn(Core& core, const Event& event) {
    core.Warn("row-onto-itself", event.loc, {}, {{"op", event.op}, {"columns", event.active.first}});
  }

  GNT_COLD static void Accumulate(Core& core, const Event& event, const Operand& dst, const Operand& source) {
    if (event.flow == Flow::Accumulate || Accumulates(event, dst, source)) return;
    core.Warn("accumulate-operand", event.loc, {}, {{"op", event.op}, {"role", source.role}});
  }

  GNT_COLD static void Report(Core& core, const Event& event, const Operand& dst, const Operand& source) {
    core.Fault("operands-overlap", event.loc, {}, {{"op", event.op}, {"first", dst.role}, {"second", source.role}});
  }
};

}  // namespace gn_twin
