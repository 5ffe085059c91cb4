// The record of one operation, as observers get it: its kind, pipe, operands and source line.
#pragma once
#include <stdint.h>

#include "gn_twin/base/constants.h"
#include "gn_twin/base/loc.h"
#include "gn_twin/events/extent.h"

namespace gn_twin {

enum class Pipe : uint8_t { S = 0, V = 1, MTE2 = 2, MTE3 = 3, All = 4 };
enum class Space : uint8_t { UB, GM };
enum class Access : uint8_t { Read, Write, ReadWrite };

// The kind of an event, for observers that treat classes of operations alike.
enum class Kind : uint8_t {
  Vector,      // an instruction of PIPE_V
  Copy,        // a transfer between GM and UB (MTE2, MTE3)
  Scalar,      // GetValue and SetValue: the scalar unit touches UB or GM
  SetFlag,     // hard_event and event_id name the flag
  WaitFlag,    // hard_event and event_id name the flag
  Barrier,     // the pipe finishes all its earlier work
  SyncAll,     // the block waits until all blocks of the launch have arrived
  CleanCache,  // the scalar unit's data cache writes back the line of operand[0]; all lines if there is no operand
  CrossFlag,   // the other cores get a flag when the pipe has finished its work so far
  InitBuffer,  // operand[0] is the buffer
  Alloc,       // this and the next three: the queue operations; operand[0] is the buffer
  EnQue,
  DeQue,
  Free,
  Release,  // operand[0] is a word of global memory; a block that acquires it later sees all work of this block so far
  Acquire,  // the block has waited for the word operand[0]
  Padding,  // the operands are the padding around the rows of the copy emitted before it
  Words     // the words of an operation besides its data: in global memory counters, through which blocks wait for each
            // other (accesses to them race with others, but not among themselves), in UB its workspace or its lists
};
inline constexpr uint32_t kKinds = static_cast<uint32_t>(Kind::Words) + 1;

// A set of kinds: one bit each.
using Kinds = uint32_t;
inline constexpr Kinds kAllKinds = (Kinds{1} << kKinds) - 1;
template <class... Each>
inline constexpr Kinds KindsOf(Each... kinds) {
  return (Kinds{0} | ... | (Kinds{1} << static_cast<uint32_t>(kinds)));
}

// One operand of one instruction. A vector operand covers `repeats` repeats that start rep_stride 32-byte blocks apart.
// The 32-byte blocks of a repeat start blk_stride blocks apart. A copy covers `rows` rows of row_bytes, row_pitch bytes
// apart. An operand gathered by address covers `rows` pieces of row_bytes. [at, at + bytes) encloses the operand. A
// vector operand that is ReadWrite is scratch memory: first written, then read.
struct Operand {
  const char* role = "";  // "dst", "src0", ...: the parameter's name in the documentation
  const uint8_t* at = nullptr;
  uint64_t bytes = 0;
  Space space = Space::UB;
  Access access = Access::Read;
  bool strided = false;  // true: the strides below apply; false: the operand is `rows`, or `bytes` contiguous bytes
  uint8_t element_bytes = 1;  // of this operand
  bool cached = true;         // global memory goes through the L2 cache; false only if the tensor's cache hint says so
  bool floats = false;        // its elements are float, half or bfloat16_t
  Extent::Form made = Extent::Form::Unknown;  // which parameters of the call make its bytes
  uint16_t blk_stride = 1;
  uint16_t rep_stride = 8;
  uint16_t tensor = 0;  // the low bits of its MadeTensor's number; 0: unknown
  uint32_t rows = 1;
  uint64_t row_bytes = 0;
  uint64_t row_pitch = 0;
  const uint32_t* pieces = nullptr;  // byte offsets of the pieces from `at`; valid while the event is emitted
};

// How the results of an instruction depend on its sources.
enum class Flow : uint8_t {
  Moves,       // elements move to other lanes, or each result bit stands for one element
  Lanes,       // lane i of the result from lane i of each source
  Accumulate,  // like Lanes, and the first source is always the destination
  Fold         // a result from all lanes of its repeat, if there is one row of results per repeat; else from all lanes
};

inline constexpr bool IsLaneByLane(Flow flow) { return flow == Flow::Lanes || flow == Flow::Accumulate; }

// Computes an element of a result as an instruction does: from the elements of its one or two sources, or from that of
// its source and the call's number.
using Formula = float (*)(float first, float second);

// How an instruction computes. `formula`: null if it is not element-wise on floats.
struct Computes {
  Flow flow = Flow::Moves;
  Formula formula = nullptr;
  constexpr Computes(Flow flow, Formula formula = nullptr) : flow(flow), formula(formula) {}
};

// The lanes of each repeat that a vector instruction processes; `per_repeat` is 0 for an instruction without lanes.
struct ActiveLanes {
  uint16_t per_repeat = 0;
  bool prefix = true;  // the leading lanes are active: `first` in every repeat but the last, `last` in the last
  uint16_t first = 0;
  uint16_t last = 0;
  uint64_t low = 0;  // if not prefix: one bit per lane
  uint64_t high = 0;

  bool operator==(const ActiveLanes&) const = default;
};

struct Event {
  Kind kind = Kind::Vector;
  Pipe pipe = Pipe::V;
  Flow flow = Flow::Moves;
  uint8_t operands = 0;
  uint8_t element_bytes = 0;  // of the widest operand, which decides the number of lanes of a repeat
  uint16_t repeats = 0;       // vector instructions
  AscendC::HardEvent hard_event = AscendC::HardEvent::MAX;
  int8_t event_id = -1;
  const char* op = "";  // the API's name
  Loc loc;
  uint64_t lanes = 0;  // elements processed
  Formula formula = nullptr;
  ActiveLanes active;
  union {
    Operand operand[4];  // only the first `operands` of them are valid: most events have fewer
  };

  Event() {}
};

// Copies an event without its pieces, whose offsets are only there while it is emitted.
inline void CopyEvent(Event& to, const Event& from) {
  __builtin_memcpy(static_cast<void*>(&to), &from, sizeof(Event) - (4 - from.operands) * sizeof(Operand));
  for (uint32_t i = 0; i < to.operands; ++i) to.operand[i].pieces = nullptr;
}

// One GetValue, SetValue or element access, or an access of the kernel's own code through a plain pointer. ReadWrite:
// operator(), which returns a reference. The struct has 24 bytes, with the place in two fields, so that in a loop of
// accesses the compiler writes it with three stores.
struct ScalarAccess {
  const uint8_t* at = nullptr;
  const char* file = "";
  uint32_t line = 0;
  uint8_t bytes = 0;
  Space space = Space::UB;
  Access access = Access::Read;
  bool floats : 1 = false;   // the element is float, half or bfloat16_t
  bool pointer : 1 = false;  // through a plain pointer, of which the compiler knows nothing

  // Returns the name of the access in findings.
  const char* Op() const {
    constexpr const char* kNames[] = {"GetValue", "SetValue", "operator()"};
    return pointer ? "*pointer" : kNames[static_cast<int>(access)];
  }
  Loc Place() const { return {file, line}; }
};

}  // namespace gn_twin
