// How many pieces of a range stay, for step 5's first stage; in which order they come is what both passes share (common_ranges.h).
#pragma once
#include "../common/common_ranges.h"
#include "group_norm_backward_ring.h"

template <class T, class Epilogue>
class GroupNormBackwardRanges
    : public CommonRanges<GroupNormBackwardRing<T, Epilogue>, GroupNormBackwardRanges<T, Epilogue>> {
 protected:
  friend class CommonRanges<GroupNormBackwardRing<T, Epilogue>, GroupNormBackwardRanges<T, Epilogue>>;
  using Base = GroupNormBackwardRing<T, Epilogue>;
  using Range = typename Base::Range;

  // How many pieces of a range do not stay; without dx none does, and none comes again. Behind a range that is much larger than local
  // memory, kLead slots are left for the first pieces of the next one. A share behind such groups is measured while they come again, but
  // for its last kTail pieces: these are measured while the dx of the group leave, and stay.
  __aicore__ inline uint32_t Dropped(uint32_t index) const {
    const Range range = this->RangeOf(index), next = this->RangeOf(index + 1);
    const uint32_t pieces = range.end - range.begin;
    if (!this->Wants(kGroupNormWantDx)) return pieces;
    if (index > 0 && this->firstGroup_ + index == this->lastGroup_ && this->groupPieces_ > Base::kSlots)
      return pieces < this->kTail ? 0 : pieces - this->kTail;
    const bool leads = next.begin < next.end && pieces > 2 * Base::kSlots;
    const uint32_t room = leads ? Base::kSlots - this->kLead : Base::kSlots;
    return pieces < room ? 0 : pieces - room;
  }
  __aicore__ inline uint32_t Again(uint32_t index) const { return this->Wants(kGroupNormWantDx) ? Dropped(index) : 0; }
};
