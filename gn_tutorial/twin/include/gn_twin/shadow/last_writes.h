// The latest writes into one core's Unified Buffer (except scatters), about one per source line. If bytes turn out to
// be missing, one of these instructions may be the one that should have written them.
//
// A call that is rechecked (events/cached_call.h) is not recorded again, because it writes the same bytes.
#pragma once
#include "gn_twin/events/footprint.h"

namespace gn_twin {

// The write of one instruction or copy, from its event.
struct LastWrite {
  Loc loc;
  const char* op = "";
  uint32_t begin = 0;  // the range of the Unified Buffer that encloses all written bytes
  uint32_t end = 0;
  uint32_t order = 0;  // number in the sequence of writes, Renew and Restart; 0: unused
  uint16_t lanes = 0;  // active lanes of each repeat, and all lanes of one
  uint16_t per_repeat = 0;
  uint8_t element_bytes = 1;
  bool copy = false;
  bool one_run = false;  // it wrote every byte of the range
  Extent extent;
};

class LastWrites {
 public:
  void Restart() { started_ = ++order_; }
  // For InitBuffer and AllocTensor: drops the earlier writes into the buffer that begins with this 32-byte block.
  void Renew(uint64_t block) { renewed_[block] = ++order_; }

  GNT_NOINLINE void Note(const Event& event, const Operand& operand, uint64_t begin) {
    if (operand.bytes == 0 || operand.pieces != nullptr || begin + operand.bytes > kUbBytes) return;
    uint64_t place = (event.loc.line + begin / kNear * kSpread) % kLines;
    if (all_[place].order == order_ && all_[place].loc.line == event.loc.line)
      place = (place + 1) % kLines;  // the same instruction's other result
    LastWrite& write = all_[place];
    const ActiveLanes& active = event.active;
    write.loc = event.loc;
    write.op = event.op;
    write.begin = static_cast<uint32_t>(begin);
    write.end = static_cast<uint32_t>(begin + operand.bytes);
    write.order = ++order_;
    write.per_repeat = operand.strided ? active.per_repeat : 0;
    write.lanes = active.prefix ? active.first
                                : static_cast<uint16_t>(__builtin_popcountll(active.low) +
                                                        __builtin_popcountll(active.per_repeat > 64 ? active.high : 0));
    write.element_bytes = operand.element_bytes;
    write.copy = event.kind == Kind::Copy;
    write.one_run = OneRun(event, operand) != 0;
    write.extent = ExtentOf(event, operand);
  }

  // Calls visit(write) for the writes into the buffer that begins with this block and ends before byte `end`. Only
  // writes since the buffer was made or last allocated count.
  template <class Visit>
  void ForBuffer(uint64_t block, uint64_t end, Visit visit) const {
    const uint32_t since = renewed_[block] > started_ ? renewed_[block] : started_;
    for (const LastWrite& write : all_)
      if (write.order > since && write.begin >= block * kBlockBytes && write.begin < end) visit(write);
  }

 private:
  static constexpr uint32_t kLines = 128;
  static constexpr uint32_t kNear = 1024;  // bytes: writes of one line that are further apart get separate entries
  static constexpr uint32_t kSpread = 37;  // distance of these entries, so that nearby source lines rarely share one

  LastWrite all_[kLines];
  uint32_t renewed_[kUbBytes / kBlockBytes] = {};
  uint32_t order_ = 0;
  uint32_t started_ = 0;
};

}  // namespace gn_twin
