// A ring of slots in local memory: which one is next, and who is done with it. What is in a slot is the operator's business.
//
// Data are copied into a slot, computed on there, and copied out of there: no queue moves them, so a slot is free for as long or as
// short as the work takes. A slot's number is its event id, of each kind of flag: MTE2_V and MTE2_S say that its data have arrived (whoever
// copies sets them, whoever computes waits), V_MTE2 and MTE3_MTE2 that the next data may come.
#pragma once
#include "kernel_operator.h"

// count: slots; the hardware has eight event ids of a kind.
template <uint32_t count>
class SlotRing {
 public:
  // Before any other id of these kinds is taken: the first ones are those of the slots.
  __aicore__ inline void Init(AscendC::TPipe* pipe) {
    pipe_ = pipe;
    for (uint32_t slot = 0; slot < count; ++slot) {
      pipe_->AllocEventID<AscendC::HardEvent::MTE2_V>();
      pipe_->AllocEventID<AscendC::HardEvent::MTE2_S>();
      pipe_->AllocEventID<AscendC::HardEvent::V_MTE2>();
      pipe_->AllocEventID<AscendC::HardEvent::MTE3_MTE2>();
    }
  }

  // Whether the next slot is free, or will be without anything more to compute.
  __aicore__ inline bool HasFree() const { return taken_ - freed_ < count; }

  // The next slot; copies into it start when it is free.
  __aicore__ inline uint32_t Take() {
    const uint32_t slot = taken_++ % count;
    WaitUntilFree(slot);
    return slot;
  }

  // The vector unit needs the slot no more, or it will be free when the copy out of it that was just started is done.
  __aicore__ inline void Drop(uint32_t slot) {
    AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(slot);
    dropped_ |= 1u << slot;
    ++freed_;
  }
  __aicore__ inline void Leave(uint32_t slot) {
    AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(slot);
    left_ |= 1u << slot;
    ++freed_;
  }

  // Every flag that was set is awaited, and every id given back.
  __aicore__ inline void Finish() {
    for (uint32_t slot = 0; slot < count; ++slot) {
      WaitUntilFree(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::MTE2_V>(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::MTE2_S>(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::V_MTE2>(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::MTE3_MTE2>(slot);
    }
  }

 private:
  __aicore__ inline void WaitUntilFree(uint32_t slot) {
    if (dropped_ >> slot & 1) AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(slot);
    if (left_ >> slot & 1) AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(slot);
    dropped_ &= ~(1u << slot);
    left_ &= ~(1u << slot);
  }

  AscendC::TPipe* pipe_ = nullptr;
  uint32_t taken_ = 0;
  uint32_t freed_ = 0;    // of those taken, the ones that are free or will be
  uint32_t dropped_ = 0;  // slots whose flag nobody has awaited yet, as bits
  uint32_t left_ = 0;
};
