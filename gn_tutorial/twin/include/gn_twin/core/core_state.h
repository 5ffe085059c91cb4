// The parts of a core's state: its mask register, its buffers, and facts about them for findings.
#pragma once
#include <stdint.h>

#include "gn_twin/base/abi.h"
#include "gn_twin/base/config.h"
#include "gn_twin/base/loc.h"
#include "gn_twin/events/event.h"

namespace gn_twin {

// The mask register: which lanes of a repeat an instruction processes (NORM), or the total number of elements (COUNT).
struct MaskRegister {
  uint64_t low = ~uint64_t{0};
  uint64_t high = ~uint64_t{0};
  bool counter = false;
  bool unused = false;  // SetVectorMask wrote it, and no instruction has used it yet
  Loc set;              // the place where an instruction, or SetVectorMask, wrote it
  const char* op = "";
};

// An event id that FetchEventID, or AllocEventID, returned.
struct GivenId {
  const char* op = "";
  Loc loc;
  AscendC::HardEvent event = AscendC::HardEvent::MAX;
  int8_t id = -1;
};

// The state of a buffer. Gone: destroyed with its TPipe. The other states have the numbers of AscendC::TBufState.
enum class BufferState : int8_t { Gone = -1, Free, Occupied, EnQueued, DeQueued };

// One buffer that InitBuffer cut from the Unified Buffer.
struct Buffer {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  BufferState state = BufferState::Free;
  BufferState left = BufferState::Free;  // for a destroyed buffer: its earlier state
  int8_t enque_id = -1;                  // event id held from EnQue to DeQue
  int8_t free_id = -1;                   // event id held from FreeTensor to the next AllocTensor
  AscendC::HardEvent enque_event = AscendC::HardEvent::MAX;
  AscendC::HardEvent free_event = AscendC::HardEvent::MAX;
  bool of_queue = false;  // of a queue, not of a TBuf; false again after TPipe::Reset
  uint16_t pipe = 0;      // number, in the block, of the TPipe that made it
  uint16_t nth = 0;       // number of earlier InitBuffer calls in the same line
  uint32_t lent = 0;      // number of the tensor that AllocTensor returned last
  uint32_t alive = 0;  // tensors with smaller numbers must not be used: FreeTensor gave them back, or the TPipe is gone
  AscendC::HardEvent forward = AscendC::HardEvent::MAX;  // the flag that EnQue sets; MAX for a TBuf
  Loc made;                                              // the InitBuffer call
  Loc changed;                                           // the last queue operation on the buffer
  Loc allocated;                                         // the last AllocTensor of the buffer
  Loc freed;                                             // the last FreeTensor of the buffer
};

inline constexpr uint16_t kNoBuffer = 0xffff;

// Detects a block that waits for another block: such a block keeps reading the same places of global memory, and stores
// nothing to global memory.
struct PollWatch {
  static constexpr uint32_t kFirst = 4096;  // repeated reads before the other blocks run: more than a tile has rows
  static constexpr uint32_t kAgain = 64;    // repeated reads before the other blocks run again
  static constexpr uint32_t kLines = 4;
  // The reads in one source line, and the range of their addresses.
  struct Line {
    uint32_t number = 0;
    const uint8_t* begin = nullptr;
    const uint8_t* last = nullptr;
  };
  Line lines[kLines];
  uint32_t idle = 0;
  uint32_t most = kFirst;
  bool moved = true;  // the block has done something else since its last turn

  // Counts a read in line `number`; returns whether it is time to run the other blocks.
  [[gnu::always_inline]] bool Idle(uint32_t number, const uint8_t* at) {
    Line& line = lines[number % kLines];
    if (line.number == number && at >= line.begin && at <= line.last) return ++idle >= most;
    if (line.number != number) line = {number, at, at};
    if (at < line.begin) line.begin = at;
    if (at > line.last) line.last = at;
    Moved();
    return false;
  }
  void Moved() {
    idle = 0;
    most = kFirst;
    moved = true;
  }
  void TookTurn() {
    idle = 0;
    most = kAgain;
    moved = false;
  }
};

// A mask that SetVectorMask set (at `set`), and that an instruction (at `by`) overwrote before any instruction used it.
struct MaskLost {
  Loc set;
  Loc by;
};

// An instruction that sets no mask, and the earlier instruction whose mask it uses.
struct MaskFrom {
  Loc used;
  Loc set;
  const char* op = "";
};

// An instruction without repeats, or a copy of no bytes.
struct NothingDone {
  const char* op = "";
  Loc loc;
  uint16_t buffer = kNoBuffer;  // of its destination
  Extent made;                  // of its destination
};

// A tensor that Get, GetWithOffset, AllocTensor or a constructor with an address made. It has a number of its own in
// its block, which the tensors that [] and ReinterpretCast make from it keep.
struct MadeTensor {
  Loc loc;
  const char* op = "";
  uint32_t number = 0;
  uint16_t buffer = kNoBuffer;
  uint32_t elements = 0;
  uint32_t offset = 0;  // bytes from the start of the buffer
  uint32_t end = 0;
};

// A tensor that ReinterpretCast made, with larger elements than those of the original tensor.
struct WiderView {
  const uint8_t* at = nullptr;
  uint8_t was_bytes = 0;  // bytes of an element before the cast
  uint8_t element_bytes = 0;
};

// Pairs of a value and its index that an instruction wrote; the index has as many bytes as the value, or four.
struct PairResults {
  const uint8_t* at = nullptr;
  uint32_t count = 0;
  uint8_t pair_bytes = 0;
  uint8_t index_bytes = 0;  // the index is the end of the pair
  const char* op = "";
  Loc loc;
};

// The bits that the last Compare, Compares or CompareScalar wrote, and the number of its repeats.
struct Compared {
  const uint8_t* bits = nullptr;
  uint32_t repeats = 0;
  Loc loc;
};

// The plain pointers that a kernel has into the Unified Buffer, and the references that operator() returned.
struct PlainPointers {
  // The first place at which the kernel got a pointer into a buffer.
  struct Into {
    Loc loc;
    uint16_t buffer = kNoBuffer;
  };
  enum class Seen : uint8_t { Unknown, Yes, No };
  static constexpr uint32_t kMost = 8, kReferences = 8;

  Seen seen = Seen::Unknown;  // whether accesses through them are logged
  Into into[kMost];
  uint32_t count = 0;
  bool anywhere = false;  // there are more pointers, or some into memory of no buffer
  // Bytes that the kernel may access through its pointers: those of the buffer of the last access.
  const uint8_t* begin = nullptr;
  uint64_t bytes = 0;
  const GntArg* argument = nullptr;  // the argument of the last access to global memory
  const void* references[kReferences] = {};
  uint32_t next_reference = 0;

  GNT_COLD void Note(uint16_t buffer, Loc loc) {
    for (uint32_t i = 0; i < count; ++i)
      if (into[i].buffer == buffer) return;
    if (count == kMost || buffer == kNoBuffer) return void(anywhere = true);
    into[count++] = {loc, buffer};
  }
  // Notes a reference that operator() returned. Its access is logged as operator(), and is not logged again.
  void NoteReference(const void* at) { references[next_reference++ % kReferences] = at; }
  bool IsReference(const void* at) const {
    for (const void* one : references)
      if (one == at) return true;
    return false;
  }
};

// The kernel type that a kernel declares (basic_api/sync/kernel_type.h). `of_key`: for a tiling key.
struct KernelType {
  const char* name = "";
  Loc set;
  bool of_key = false;
  bool waits = true;  // its cores can wait for each other
};

}  // namespace gn_twin
