// Adds a cause to a finding: two numbers of a call that were probably exchanged. The call would fit if each of the two
// were in the other's place.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/core/core_state.h"
#include "gn_twin/events/event.h"
#include "gn_twin/events/field_list.h"

namespace gn_twin {

class ExchangeCause {
 public:
  // Returns the first exchange of numbers after which the instruction of the event would touch only what it may touch.
  // fits(event): whether that is so for an instruction with this event.
  template <class Fits>
  GNT_COLD static Exchange Find(const Event& event, Fits fits) {
    const ActiveLanes& active = event.active;
    if (active.per_repeat == 0) return {};
    if (event.operands == 3 && IsSource(event.operand[1]) && IsSource(event.operand[2]) &&
        Differ(event.operand[1], event.operand[2])) {
      Event other = event;
      Swap(other.operand[1].blk_stride, other.operand[2].blk_stride);
      Swap(other.operand[1].rep_stride, other.operand[2].rep_stride);
      bool found = fits(other);
      for (const bool repeat : {true, false}) {
        if (found) break;
        other = event;
        repeat ? Swap(other.operand[1].rep_stride, other.operand[2].rep_stride)
               : Swap(other.operand[1].blk_stride, other.operand[2].blk_stride);
        found = fits(other);
      }
      if (found) {
        Exchange exchange{"strides-exchanged"};
        for (uint32_t i = 0; i < 2; ++i) {
          exchange.blk[i] = event.operand[i + 1].blk_stride;
          exchange.rep[i] = event.operand[i + 1].rep_stride;
        }
        return exchange;
      }
    }
    const bool same = active.prefix && active.first == active.last;
    if (same && event.repeats > 1 && event.repeats <= active.per_repeat && active.first != 0 &&
        active.first < event.repeats) {
      Event other = event;
      other.repeats = active.first;
      other.active.first = other.active.last = event.repeats;
      if (fits(other)) return {"repeat-mask-exchanged", event.repeats, active.first};
    }
    return {};
  }

  GNT_COLD static void Add(const Exchange& found, const char* op, FieldList& fields) {
    if (found.cause == nullptr || fields.Has("cause")) return;
    fields.Add({"cause", found.cause});
    if (found.repeats != 0) {
      fields.Add({"repeats", found.repeats});
      fields.Add({"lanes", found.lanes});
      fields.Add({"order", RepeatsFirst(op) ? "repeatTime first and mask second" : "mask first and repeatTime second"});
      return;
    }
    fields.Add({"blk0", found.blk[0]});
    fields.Add({"rep0", found.rep[0]});
    fields.Add({"blk1", found.blk[1]});
    fields.Add({"rep1", found.rep[1]});
  }

 private:
  // Whether the call takes repeatTime before the mask, as reductions of blocks and pairs do.
  static bool RepeatsFirst(const char* op) {
    for (const char* start : {"BlockReduce", "PairReduce", "RepeatReduce"})
      if (__builtin_strncmp(op, start, __builtin_strlen(start)) == 0) return true;
    return false;
  }
  static bool IsSource(const Operand& operand) { return operand.access == Access::Read && operand.strided; }
  static bool Differ(const Operand& a, const Operand& b) {
    return a.blk_stride != b.blk_stride || a.rep_stride != b.rep_stride;
  }
  static void Swap(uint16_t& a, uint16_t& b) {
    const uint16_t kept = a;
    a = b;
    b = kept;
  }
};

}  // namespace gn_twin
