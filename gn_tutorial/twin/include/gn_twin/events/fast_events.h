// Fast events: observers get flags, copies and queue operations as the few numbers that they use, instead of an Event.
#pragma once
#include "gn_twin/events/event.h"

namespace gn_twin {

struct Core;

// A copy between global memory and one run of bytes of the Unified Buffer. It overwrites its destination, and its
// operands were already checked.
struct FastCopy {
  const char* op = "";
  Loc loc;
  Pipe pipe = Pipe::MTE2;  // into the Unified Buffer; MTE3: out of it
  uint8_t element_bytes = 1;
  uint32_t local = 0;        // bytes from the start of the Unified Buffer
  uint32_t local_bytes = 0;  // not 0
  const uint8_t* global = nullptr;
  uint32_t rows = 0;  // in global memory, row_pitch bytes apart
  uint64_t row_bytes = 0;
  uint64_t row_pitch = 0;
  uint16_t tensor = 0;  // as in Operand, of the local tensor

  bool IsLoad() const { return pipe == Pipe::MTE2; }
};

class FastEvents {
 public:
  virtual ~FastEvents() = default;
  // Passes on SetFlag or WaitFlag.
  virtual void OnFlag(Core& core, Kind kind, AscendC::HardEvent event, uint32_t id) = 0;
  // Passes on a copy; returns false if observers need the copy's whole event.
  virtual bool OnCopy(Core& core, const FastCopy& copy) = 0;
  // Passes on Alloc or Free of the buffer that is the bytes [begin, end) of the Unified Buffer.
  virtual void OnBuffer(Core& core, Kind kind, uint32_t begin, uint32_t end) = 0;
};

}  // namespace gn_twin
