// The interface of all observers of a launch: counters, checkers, traces. Observers never change a kernel's results.
#pragma once
#include "gn_twin/events/event.h"
#include "gn_twin/events/scalar_accesses.h"

namespace gn_twin {

struct Core;

class Observer {
 public:
  virtual ~Observer() = default;
  // Returns the kinds of events that this observer gets.
  virtual Kinds Wants() const { return kAllKinds; }
  // Called for each operation of these kinds except repeated cached calls and fast events, after its operands were
  // validated and before it computes. `core` is the core that issued the operation.
  virtual void OnEvent(Core& /*core*/, const Event& /*event*/) {}
  // Called with all GetValue, SetValue and element accesses outside quiet ranges, in order. Accesses are too frequent
  // for one call each, so many come at a time, always before the core's next event.
  virtual void OnScalars(Core& /*core*/, const ScalarAccess* /*accesses*/, uint32_t /*count*/) {}
  // Narrows `quiet`, a range of bytes of the Unified Buffer around the access `like`, which was just logged. Until the
  // next event, this observer needs to see no loads from the bytes that remain. If `like` is a store, makes `quiet`
  // empty unless OnStores is enough.
  virtual void Quiet(Core& /*core*/, const ScalarAccess& /*like*/, QuietBytes& /*quiet*/) {}
  // Called once for a run of stores like `first`, to all bytes from first.at to `end`. OnScalars does not get these
  // stores.
  virtual void OnStores(Core& /*core*/, const ScalarAccess& /*first*/, const uint8_t* /*end*/) {}
  // Called with the number of loads in quiet ranges, which OnScalars does not get.
  virtual void OnLoads(Core& /*core*/, uint64_t /*count*/) {}
  // OnBlockBegin is called when a block starts. OnBlockEnd is called when the block has run to its end, but not when it
  // was stopped.
  virtual void OnBlockBegin(Core& /*core*/) {}
  virtual void OnBlockEnd(Core& /*core*/) {}
  // Called after the last block, unless one was stopped. `core` is a fresh core of block 0, for reporting findings.
  virtual void OnLaunchEnd(Core& /*core*/) {}
};

// The observers of one launch, in the order in which they get its events.
class Observers {
 public:
  void Add(Observer& observer) {
    all_[count_++] = &observer;
    for (uint32_t kind = 0; kind < kKinds; ++kind)
      if ((observer.Wants() >> kind & 1) != 0) of_[kind].all[of_[kind].count++] = &observer;
  }

  // Whether any observer gets events of this kind.
  bool Wants(Kind kind) const { return of_[static_cast<uint32_t>(kind)].count != 0; }
  void OnEvent(Core& core, const Event& event) const {
    const Audience& audience = of_[static_cast<uint32_t>(event.kind)];
    for (uint32_t i = 0; i < audience.count; ++i) audience.all[i]->OnEvent(core, event);
  }
  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnScalars(core, accesses, count);
  }
  // Returns the range of the Unified Buffer around the access `like` that is quiet for all observers.
  QuietBytes QuietAt(Core& core, const ScalarAccess& like) const;
  void OnStores(Core& core, const ScalarAccess& first, const uint8_t* end) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnStores(core, first, end);
  }
  void OnLoads(Core& core, uint64_t count) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnLoads(core, count);
  }
  void OnBlockBegin(Core& core) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnBlockBegin(core);
  }
  void OnBlockEnd(Core& core) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnBlockEnd(core);
  }
  void OnLaunchEnd(Core& core) const {
    for (uint32_t i = 0; i < count_; ++i) all_[i]->OnLaunchEnd(core);
  }

 private:
  static constexpr uint32_t kMost = 12;
  struct Audience {
    Observer* all[kMost] = {};
    uint32_t count = 0;
  };
  Audience of_[kKinds];
  Observer* all_[kMost] = {};
  uint32_t count_ = 0;
};

}  // namespace gn_twin
