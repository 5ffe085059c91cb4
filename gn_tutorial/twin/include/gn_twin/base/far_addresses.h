// Addresses of arrays in global memory, so far apart that an address shows from which array a pointer came.
//
// A kernel's pointer to global memory is a plain pointer, which loses its array when the kernel adds an offset. So each
// array lies in the middle of a stretch of addresses that nothing else uses. An offset counted in the wrong unit, or one
// that wrapped around in 32 bits, stays inside the stretch. Unused addresses cost nothing: they are not even reserved,
// because systems give out addresses elsewhere if a program does not ask for certain ones.
#pragma once
#include <stdint.h>
#include <sys/mman.h>

namespace gn_twin {

// Stretches of one length, one for each array.
class FarAddresses {
 public:
  static constexpr uint64_t kHugePage = uint64_t{2} << 20;  // as in gn_tutorial/runtime/mapping.py
  // The addresses without access rights on each side of pages for which the system gives no far ones. No Unified Buffer
  // is larger, so no copy that begins inside an array can reach beyond them.
  static constexpr uint64_t kLeastAround = 256 * 1024;

  explicit FarAddresses(uint64_t arrays) {
    const uint64_t each = (kEnd - kBegin) / (arrays != 0 ? arrays : 1) / (2 * kHugePage) * (2 * kHugePage);
    stretch_ = each < kLongest ? each : kLongest;
  }

  // Pages, and the number of addresses before and behind them that belong to them alone. `at` is null if the system has
  // no memory.
  struct Pages {
    uint8_t* at;
    uint64_t around;
  };
  // Maps `bytes` bytes as mmap does: pages of `descriptor` from `offset` on, or new ones (-1). `array`: the number of
  // the stretch. `shift`: how far from its middle the pages begin. Each array should have a shift of its own, because
  // the caches of some processors are slower for addresses that differ only in their highest bits. If the shift is a
  // multiple of the size of huge pages, the address is one, too.
  Pages Map(uint64_t array, uint64_t shift, uint64_t bytes, int rights, int flags, int descriptor = -1,
            uint64_t offset = 0) const {
    const uint64_t over = shift % kHugePage;
    uint8_t* const far = reinterpret_cast<uint8_t*>(kBegin + stretch_ * array + stretch_ / 2 + shift);
    if (bytes == 0 || MapAt(far, bytes, rights, flags, descriptor, offset)) return {far, stretch_ / 2};
    const uint64_t room = bytes + 2 * (kLeastAround + kHugePage);
    void* const reserved = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return {nullptr, 0};
    uint8_t* const first = static_cast<uint8_t*>(reserved);
    const uintptr_t least = reinterpret_cast<uintptr_t>(first) + kLeastAround + kHugePage - 1;
    uint8_t* const near = reinterpret_cast<uint8_t*>(least / kHugePage * kHugePage + over);
    uint8_t* const begin = near - kLeastAround;
    uint8_t* const end = near + bytes + kLeastAround;
    munmap(first, static_cast<uint64_t>(begin - first));
    munmap(end, static_cast<uint64_t>(first + room - end));
    if (MapAt(near, bytes, rights, flags | MAP_FIXED, descriptor, offset)) return {near, kLeastAround};
    Unmap(near, bytes);
    return {nullptr, 0};
  }
  // Whether an address lies in the stretch of some array.
  static bool Has(const void* address) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    return at >= kBegin && at < kEnd;
  }
  // Gives back pages that Map returned.
  static void Unmap(uint8_t* at, uint64_t bytes) { munmap(at - kLeastAround, bytes + 2 * kLeastAround); }

 private:
  // Returns false if the system does not give that address.
  static bool MapAt(uint8_t* at, uint64_t bytes, int rights, int flags, int descriptor, uint64_t offset) {
    void* const there = mmap(at, bytes, rights, flags, descriptor, static_cast<off_t>(offset));
    if (there == at) return true;
    if (there != MAP_FAILED) munmap(there, bytes);
    return false;
  }

  // 32 TiB. Linux and macOS place programs and what they map elsewhere.
  static constexpr uint64_t kBegin = uint64_t{0x30} << 40, kEnd = uint64_t{0x50} << 40;
  static constexpr uint64_t kLongest = uint64_t{1} << 40;  // twice kReach of core/core.h
  uint64_t stretch_;
};

}  // namespace gn_twin
