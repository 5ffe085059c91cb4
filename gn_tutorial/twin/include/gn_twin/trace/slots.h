// The layout of a trace: slots of 64 bytes that Python reads (gn_tutorial/abi/trace.py). Addresses are those of the
// model, not of this process: offsets into the Unified Buffer, and GntArg::address plus the offset into the argument.
#pragma once
#include "gn_twin/events/event.h"

namespace gn_twin {

enum class Slot : uint8_t { None, Event, Operand, Scalars, Text, Pieces, Tensor };

inline constexpr uint32_t kSlotBytes = 64;

// One event. Texts are given as numbers; a TextSlot defines each number before its first use.
struct EventSlot {
  Slot slot;
  Kind kind;
  Pipe pipe;
  uint8_t operands;  // number of OperandSlots that follow
  uint8_t element_bytes;
  AscendC::HardEvent hard_event;
  int8_t event_id;
  uint8_t prefix;  // of ActiveLanes, as are per_repeat, first, last, low and high
  uint16_t per_repeat;
  uint16_t first;
  uint16_t last;
  uint16_t repeats;
  uint16_t op;
  uint16_t file;
  uint32_t line;
  uint32_t block;
  Flow flow;
  uint8_t atomic;  // 1: a copy to global memory combines its data with the old contents
  uint8_t unused[2];
  uint64_t low;
  uint64_t high;
  uint64_t lanes;
  uint16_t tensor[4];  // of each operand: the number of the TensorSlot before that says where its tensor was made, or 0
};

struct OperandSlot {
  Slot slot;
  Space space;
  Access access;
  uint8_t element_bytes;
  uint8_t strided;
  uint8_t cached;
  uint16_t role;
  uint16_t argument;  // of an operand in global memory; otherwise kNoArgument
  uint16_t blk_stride;
  uint16_t rep_stride;
  uint8_t floats;
  uint8_t in_pieces;  // 1: its pieces are in PiecesSlots
  uint32_t rows;
  uint32_t lines;  // number of touched lines of global memory, counted row by row
  uint64_t at;
  uint64_t bytes;
  uint64_t row_bytes;
  uint32_t row_pitch;    // the low 32 bits
  uint32_t cold;         // touched lines that were never touched before
  uint32_t reuse_lines;  // the largest reuse distance (L2Lines) of a line that is not cold, in lines
  uint32_t cold_blocks;  // 32-byte pieces of the operand that were never touched before
};

// The starts of an operand's pieces, in bytes from the operand. As many PiecesSlots as the pieces need follow the
// operands of an event.
struct PiecesSlot {
  static constexpr uint32_t kRoom = kSlotBytes / sizeof(uint32_t) - 1;
  Slot slot;
  uint8_t unused[3];
  uint32_t at[kRoom];
};

// Scalar accesses between two events: those of one source line, of the same kind and size, to one argument or to the
// Unified Buffer. There may be several slots for them.
struct ScalarsSlot {
  Slot slot;
  Space space;
  Access access;
  uint8_t bytes;  // of one access
  uint16_t file;
  uint16_t argument;
  uint32_t line;
  uint32_t block;
  uint64_t count;
  uint64_t begin;  // the accesses lie in [begin, end)
  uint64_t end;
  uint64_t
      changes;  // accesses in another 64-byte line (of the scalar unit's data cache) than the access before; the first
                // access of the slot counts too
  uint64_t floats;
  uint64_t unused;
};

// Where a tensor of a block was made. Blocks number their tensors from 1 on, and begin again after 65535.
struct TensorSlot {
  Slot slot;
  uint8_t unused;
  uint16_t number;
  uint16_t op;
  uint16_t file;
  uint32_t line;
  uint32_t block;
  uint8_t unused2[kSlotBytes - 16];
};

struct TextSlot {
  static constexpr uint32_t kRoom = kSlotBytes - 8;
  Slot slot;
  uint8_t continues;  // the next slot is a TextSlot with more of this text
  uint16_t number;
  uint32_t unused;
  char text[kRoom];
};

static_assert(sizeof(EventSlot) == kSlotBytes && sizeof(OperandSlot) == kSlotBytes);
static_assert(sizeof(ScalarsSlot) == kSlotBytes && sizeof(TextSlot) == kSlotBytes && sizeof(PiecesSlot) == kSlotBytes);
static_assert(sizeof(TensorSlot) == kSlotBytes);

}  // namespace gn_twin
