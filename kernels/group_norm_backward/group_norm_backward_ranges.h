// Which pieces come when, for step 5's first stage: all of a range, and again those that did not stay. As in the forward pass
// (group_norm_5_resident.h): while pieces of a range come again, the first ones of the next range come in between, so that memory delivers
// while dx is computed and leaves.
#pragma once
#include "group_norm_backward_ring.h"

template <class T>
class GroupNormBackwardRanges : public GroupNormBackwardRing<T> {
 protected:
  using Base = GroupNormBackwardRing<T>;
  using Range = typename Base::Range;

  // What this core works on, one after the other: its groups, and its share of others.
  __aicore__ inline Range RangeOf(uint32_t index) const {
    const uint32_t group = firstGroup_ + index;
    if (group < lastGroup_) return {group * this->groupPieces_, (group + 1) * this->groupPieces_};
    return group == lastGroup_ ? share_ : Range{0, 0};
  }
  // How many pieces of a range do not stay; without dx none does, and none comes again. Behind a range that is much larger than local
  // memory, kLead slots are left for the first pieces of the next one. A share behind such groups is measured while they come again, but
  // for its last kTail pieces: these are measured while the dx of the group leave, and stay.
  __aicore__ inline uint32_t Dropped(uint32_t index) const {
    const Range range = RangeOf(index), next = RangeOf(index + 1);
    const uint32_t pieces = range.end - range.begin;
    if (!this->Wants(kGroupNormWantDx)) return pieces;
    if (index > 0 && firstGroup_ + index == lastGroup_ && this->groupPieces_ > Base::kSlots)
      return pieces < kTail ? 0 : pieces - kTail;
    const bool leads = next.begin < next.end && pieces > 2 * Base::kSlots;
    const uint32_t room = leads ? Base::kSlots - kLead : Base::kSlots;
    return pieces < room ? 0 : pieces - room;
  }
  __aicore__ inline uint32_t Again(uint32_t index) const { return this->Wants(kGroupNormWantDx) ? Dropped(index) : 0; }
  // How many pieces of the next range have been measured when piece `number` comes again: evenly spread, kLead in advance.
  __aicore__ inline uint32_t Ahead(uint32_t index, uint32_t number) const {
    const uint32_t most = Again(index + 1), steps = Again(index) - 1;
    if (most <= kLead || number == 0) return most < kLead ? most : kLead;
    const uint32_t more = most - kLead < steps ? most - kLead : steps;
    return kLead + (number * more + steps - 1) / steps;
  }

  __aicore__ inline void LoadAhead() {
    while (this->ring_.HasFree()) {
      const Range range = RangeOf(loadRange_);
      const uint32_t pieces = range.end - range.begin, again = Again(loadRange_);
      if (pieces == 0) return;
      if (loadStep_ < pieces) {
        const bool stays = loadStep_ >= Dropped(loadRange_);
        this->Load(range.begin + loadStep_, stays, stays || again == 0);
        ++loadStep_;
      } else if (loadedNext_ < Ahead(loadRange_, loadStep_ - pieces)) {
        this->Load(RangeOf(loadRange_ + 1).begin + loadedNext_, false, false);
        ++loadedNext_;
      } else if (holdsShare_ && firstGroup_ + loadRange_ == lastGroup_) {
        return;
      } else {
        this->Load(range.begin + loadStep_ - pieces, true, false);
        ++loadStep_;
      }
      if (loadStep_ < pieces + again) continue;
      ++loadRange_;
      loadStep_ = loadedNext_;
      loadedNext_ = 0;
    }
  }

  static constexpr uint32_t kLead = 3;
  static constexpr uint32_t kTail = 2;
  Range share_{0, 0};
  uint32_t firstGroup_ = 0;
  uint32_t lastGroup_ = 0;
  uint32_t loadRange_ = 0;
  uint32_t loadStep_ = 0;
  uint32_t loadedNext_ = 0;  // pieces of the next range
  bool holdsShare_ = true;   // no piece of the share comes again before all cores have met: SyncAll would wait for it
};
