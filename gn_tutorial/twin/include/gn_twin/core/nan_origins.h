// Which instructions made NaN, or infinity, from numbers, and where the NaN is now: the state of one block.
//
// The processor's flags (base/float_flags.h) show that an instruction may have made one. They are read after those that
// can make one from numbers, such as Div and Exp, and after all others once there is infinity. tensor/nan_origins.h then
// looks at the results, and reports a NaN that the block stores.
#pragma once
#include <stdint.h>

#include "gn_twin/base/loc.h"
#include "gn_twin/events/event.h"

namespace gn_twin {

struct CachedCall;

struct NanOrigins {
  // An instruction that made NaN or infinity, with the operands of the first such result.
  struct Made {
    static constexpr uint32_t kMost = 3;
    const char* op = "";
    Loc loc;
    uint64_t index = 0;  // of the result
    // How much is known of an operand: its value; or, if the result overwrote it, what it must have been.
    enum Known : uint8_t { Value, Above, EitherSign, Nothing };
    float value[kMost] = {};
    Known known[kMost] = {};
    uint32_t values = 0;
    bool by_scalar = false;    // the number of the call is NaN or infinite, so it comes from the scalar unit
    bool of_infinity = false;  // one of the operands is infinite
    bool grows = false;        // a function of one operand, which is far from 0: it grows as Exp does
  };
  static constexpr uint32_t kMost = 4;  // lines with a record; further lines get none
  Made made[kMost];
  uint32_t count = 0;
  Made infinite;  // the last instruction that made infinity from numbers
  bool has_infinite = false;

  // Ranges of the Unified Buffer that hold NaN of a record, the latest last. The oldest is dropped if there is no room.
  struct Spread {
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
    uint32_t record = 0;
  };
  static constexpr uint32_t kRanges = 8;
  Spread spread[kRanges];
  uint32_t ranges = 0;

  // The instruction that was emitted last: a cached call, or a copy of its event.
  const CachedCall* call = nullptr;
  bool has_event = false;
  Event event;

  // The number that the last instruction with one was called with.
  const char* number_op = nullptr;
  uint32_t number_line = 0;
  float number = 0.0f;
  // The value that an instruction in place was about to overwrite, and whose result will be NaN.
  const char* lost_op = nullptr;
  uint32_t lost_line = 0;
  float lost = 0.0f;

  bool scalar_raised = false;  // the scalar unit may have made NaN

  // When to look at an instruction's results. Sums and products of numbers are no reason: they are numbers too, unless
  // they overflow.
  enum Look : uint8_t {
    Never,
    Once,    // the flags after the last instruction, which can make NaN or infinity from numbers
    Flags,   // the flags after each instruction, because infinity is on its way
    Results  // the results of each instruction, because NaN is on its way
  };
  Look look = Never;
  void AtLeast(Look wanted) {
    if (look < wanted) look = wanted;
  }

  void Remember(const Event& of) {
    CopyEvent(event, of);
    has_event = true;
    call = nullptr;
  }
  void Keep(const char* op, uint32_t line, float value) {
    lost_op = op;
    lost_line = line;
    lost = value;
  }
  // Returns the record of a range's NaN, `kMost` if there is none.
  uint32_t Of(const uint8_t* begin, const uint8_t* end) const {
    for (uint32_t i = ranges; i-- > 0;)
      if (spread[i].begin < end && begin < spread[i].end) return spread[i].record;
    return kMost;
  }
  void Forget(const uint8_t* begin, const uint8_t* end) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ranges; ++i)
      if (spread[i].begin < begin || spread[i].end > end) spread[kept++] = spread[i];
    ranges = kept;
  }
  void Spreads(const uint8_t* begin, const uint8_t* end, uint32_t record) {
    Forget(begin, end);
    if (ranges == kRanges) Forget(spread[0].begin, spread[0].end);
    spread[ranges++] = {begin, end, record};
  }
  // Adds a record unless its line has one; returns its number, or kMost if there is no room.
  uint32_t Add(const Made& one) {
    look = Results;
    for (uint32_t i = 0; i < count; ++i)
      if (made[i].loc.line == one.loc.line && made[i].loc.file == one.loc.file) return i;
    if (count == kMost) return kMost;
    made[count] = one;
    return count++;
  }
};

}  // namespace gn_twin
