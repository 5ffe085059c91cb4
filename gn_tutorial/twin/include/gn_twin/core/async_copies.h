// Copies between global memory and the Unified Buffer that take effect as late as the kernel allows (TwinOptions,
// delayed_dma).
//
// The vector and the scalar unit work in program order. A delayed copy takes effect when one of these units waits for
// it. Such a wait is a WaitFlag on a flag that the copy's pipe set after the copy (queues set such flags), a barrier of
// all pipes, a scalar access that the compiler orders, a SyncAll, a CrossCoreWaitFlag, or the end of the block. If only
// the other copy pipe waits, the copy takes effect just before the next copy of that pipe does. Copies of one pipe keep
// their order. Until a copy takes effect, reads return the old contents, as they may on the device. So a correct kernel
// gives the same bits, and a kernel with a forgotten wait gives wrong numbers.
#pragma once
#include "gn_twin/base/config.h"
#include "gn_twin/events/hard_event.h"

namespace gn_twin {

class AsyncCopies {
 public:
  // The bytes that a copy reads or writes.
  struct Bytes {
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
    bool Overlaps(const uint8_t* at, uint64_t bytes) const { return at < end && begin < at + bytes; }
  };

  // Stores `copy`, a closure of plain values that performs the copy. `pipe`: MTE2 or MTE3.
  template <class Copy>
  void Add(Pipe pipe, Bytes reads, Bytes writes, const Copy& copy) {
    static_assert(sizeof(Copy) <= sizeof(Pending::copy) && __is_trivially_copyable(Copy));
    const uint32_t lane = LaneOf(pipe);
    uint64_t& issued = waited_[lane].issued[lane];
    if (issued - done_[lane] == kMost) RunLane(lane, done_[lane] + 1);  // the device's queue is limited too
    Pending& pending = pending_[lane][issued++ % kMost];
    pending.reads = reads;
    pending.writes = writes;
    pending.needs = waited_[lane].issued[1 - lane];
    pending.run = [](const void* closure) { (*static_cast<const Copy*>(closure))(); };
    __builtin_memcpy(pending.copy, &copy, sizeof(Copy));
  }

  void SetFlag(HardEvent event, int id) {
    const Pipe from = PipesOf(event).from;
    // A flag of the vector or the scalar unit covers no delayed copies, because the copies that such a unit has waited
    // for are already done.
    flags_[static_cast<int>(event)][id] = IsCopyPipe(from) ? waited_[LaneOf(from)] : Finished{};
  }
  void WaitFlag(HardEvent event, int id) {
    const Finished& finished = flags_[static_cast<int>(event)][id];
    const Pipe to = PipesOf(event).to;
    if (!IsCopyPipe(to)) return RunTo(finished);
    uint64_t& other = waited_[LaneOf(to)].issued[1 - LaneOf(to)];
    if (other < finished.issued[1 - LaneOf(to)]) other = finished.issued[1 - LaneOf(to)];
  }
  // For CrossCoreSetFlag: notes the copies that copy pipe `pipe` issued or waited for. WaitCrossFlag performs them.
  void SetCrossFlag(Pipe pipe) {
    if (!IsCopyPipe(pipe)) return;
    const Finished& waited = waited_[LaneOf(pipe)];
    for (uint32_t lane = 0; lane < 2; ++lane) {
      if (cross_.issued[lane] < waited.issued[lane]) cross_.issued[lane] = waited.issued[lane];
    }
  }
  void WaitCrossFlag() { RunTo(cross_); }

  GNT_COLD void RunAll() { RunTo({{waited_[0].issued[0], waited_[1].issued[1]}}); }

  // For a scalar access that the compiler orders. If a delayed copy writes the bytes of the access, or reads bytes that
  // the access writes, performs all copies of its pipe, and the copies that this pipe waited for.
  GNT_COLD void BeforeScalar(const uint8_t* at, uint64_t bytes, bool writes) {
    for (uint32_t lane = 0; lane < 2; ++lane) {
      for (uint64_t i = done_[lane]; i < waited_[lane].issued[lane]; ++i) {
        const Pending& pending = pending_[lane][i % kMost];
        if (pending.writes.Overlaps(at, bytes) || (writes && pending.reads.Overlaps(at, bytes))) RunTo(waited_[lane]);
      }
    }
  }

 private:
  static constexpr uint32_t kMost = 256;
  // How many copies of each of the two pipes, MTE2 and MTE3, are finished at some point of the program.
  struct Finished {
    uint64_t issued[2] = {0, 0};
  };
  struct Pending {
    Bytes reads;
    Bytes writes;
    uint64_t needs;  // how many copies of the other pipe must come before
    void (*run)(const void* closure);
    alignas(16) unsigned char copy[160];
  };

  static bool IsCopyPipe(Pipe pipe) { return pipe == Pipe::MTE2 || pipe == Pipe::MTE3; }
  static uint32_t LaneOf(Pipe pipe) { return pipe == Pipe::MTE3 ? 1 : 0; }

  // Performs the copies of one pipe up to number `end`. If the last of them needs copies of the other pipe, performs
  // those first. Later copies of the other pipe stay delayed, so that a missing wait for one of them shows.
  GNT_COLD void RunLane(uint32_t lane, uint64_t end) {
    if (done_[lane] >= end) return;
    RunLane(1 - lane, pending_[lane][(end - 1) % kMost].needs);
    while (done_[lane] < end) {
      const Pending& pending = pending_[lane][done_[lane]++ % kMost];
      pending.run(pending.copy);
    }
  }
  // Performs stores before loads: a store that lacks its wait for a load then stores the old contents.
  GNT_COLD void RunTo(Finished finished) {
    RunLane(1, finished.issued[1]);
    RunLane(0, finished.issued[0]);
  }

  Pending pending_[2][kMost];
  uint64_t done_[2] = {0, 0};
  Finished waited_[2];  // for each pipe: the copies that it issued, and those of the other pipe that it waited for
  Finished flags_[static_cast<int>(HardEvent::MAX)][kEventIds];
  Finished cross_;
};

}  // namespace gn_twin
