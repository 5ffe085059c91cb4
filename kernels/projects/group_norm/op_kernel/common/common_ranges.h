// The order in which a core copies the pieces of what it works on: all pieces of a range, then again those that did not stay, and in between
// the first ones of the next range, if these will not stay either. So memory delivers while the results of this range leave.
#pragma once
#include "kernel_operator.h"

// Ring: slots, Load(piece, stays, normalised) of one piece and ring_.HasFree(), groupPieces_ and Range {begin, end}. Kernel: the class
// that derives from this one. Its Dropped(index) says how many pieces of a range do not stay, its Again(index) how many come again.
template <class Ring, class Kernel>
class CommonRanges : public Ring {
 protected:
  using Range = typename Ring::Range;

  // What this core works on, one after the other: its groups, and its share of others.
  __aicore__ inline Range RangeOf(uint32_t index) const {
    const uint32_t group = firstGroup_ + index;
    if (group < lastGroup_) return {group * this->groupPieces_, (group + 1) * this->groupPieces_};
    return group == lastGroup_ ? share_ : Range{0, 0};
  }
  // How many pieces of the next range have been worked on when piece `number` comes again: evenly spread, kLead in advance.
  __aicore__ inline uint32_t Ahead(uint32_t index, uint32_t number) const {
    const uint32_t most = Self().Again(index + 1), steps = Self().Again(index) - 1;
    if (most <= kLead || number == 0) return most < kLead ? most : kLead;
    const uint32_t more = most - kLead < steps ? most - kLead : steps;
    return kLead + (number * more + steps - 1) / steps;
  }

  // Starts copies while there are free slots.
  __aicore__ inline void LoadAhead() {
    while (this->ring_.HasFree()) {
      const Range range = RangeOf(loadRange_);
      const uint32_t pieces = range.end - range.begin, again = Self().Again(loadRange_);
      if (pieces == 0) return;
      if (loadStep_ < pieces) {
        const bool stays = loadStep_ >= Self().Dropped(loadRange_);
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
  Range share_{0, 0};  // a part of groups that several cores divide
  uint32_t firstGroup_ = 0;
  uint32_t lastGroup_ = 0;
  uint32_t loadRange_ = 0;
  uint32_t loadStep_ = 0;
  uint32_t loadedNext_ = 0;  // pieces of the next range
  bool holdsShare_ = true;   // no piece of the share comes again before all cores have met: SyncAll would wait for it

 private:
  __aicore__ inline const Kernel& Self() const { return static_cast<const Kernel&>(*this); }
};
