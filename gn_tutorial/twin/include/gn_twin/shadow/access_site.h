// Access sites (numbered calls that touch memory) and stamps. A stamp is 32 bits with a site and a window of the vector
// clock.
#pragma once
#include "gn_twin/base/config.h"
#include "gn_twin/events/event.h"

namespace gn_twin {

// A call as diagnostics name it: its source location and its API.
struct Site {
  Loc loc;
  const char* op = "";
};

// Numbers sites from 0 in the order of first use. The first kMost - 1 sites have numbers of their own. All others share
// the last number, which has no source location.
class Sites {
 public:
  static constexpr uint32_t kMost = 1024;

  GNT_NOINLINE uint32_t Number(Loc loc, const char* op) {
    const uint64_t file = reinterpret_cast<uintptr_t>(loc.file);
    uint32_t slot = static_cast<uint32_t>((file >> 3) * 31 + loc.line * 0x9e3779b1u) % kSlots;
    for (; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
      const Site& site = sites_[slots_[slot] - 1];
      if (site.loc.line == loc.line && site.loc.file == loc.file && site.op == op) return slots_[slot] - 1u;
    }
    if (count_ == kMost - 1) return kMost - 1;
    sites_[count_] = {loc, op};
    slots_[slot] = static_cast<uint16_t>(++count_);
    return count_ - 1;
  }
  const Site& At(uint32_t number) const { return sites_[number]; }

 private:
  static constexpr uint32_t kSlots = 2 * kMost;
  uint16_t slots_[kSlots] = {};  // number + 1; 0: free
  Site sites_[kMost];
  uint32_t count_ = 0;
};

// The windows in one pipe's stamps only grow. kPart: the access touches only some of the 32 bytes of its stamp.
using Stamp = uint32_t;
inline constexpr uint32_t kSiteBits = 10;
inline constexpr Stamp kPart = 1u << kSiteBits;
inline constexpr uint32_t kWindowShift = kSiteBits + 1;
inline constexpr uint32_t kLastWindow = (1u << (32 - kWindowShift)) - 8;

inline constexpr Stamp StampOf(uint32_t window, uint32_t site) { return window << kWindowShift | site; }
// Returns the largest stamp of a window. A pipe that has seen no later window has seen no larger stamp.
inline constexpr Stamp EndOf(uint32_t window) { return (window << kWindowShift) | ((1u << kWindowShift) - 1); }
inline constexpr uint32_t SiteOf(Stamp stamp) { return stamp & (kPart - 1); }

}  // namespace gn_twin
