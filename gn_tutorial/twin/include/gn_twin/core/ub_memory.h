// The memory of one Unified Buffer, from the object pool.
#pragma once
#include <stdint.h>
#include <stdlib.h>

#include <new>

#include "gn_twin/base/config.h"
#include "gn_twin/core/object_pool.h"

namespace gn_twin {

// Holds 192 KB (kUbBytes), aligned to 512 bytes, with a margin that absorbs the overruns of unchecked (bare) kernels.
class UbMemory {
 public:
  // Returns a new UbMemory, or null if there is no memory.
  static UbMemory* New() {
    UbMemory* made = new (std::nothrow) UbMemory;
    if (made != nullptr && made->bytes_ == nullptr) {
      delete made;
      return nullptr;
    }
    return made;
  }
  ~UbMemory() { free(bytes_); }
  UbMemory(const UbMemory&) = delete;
  UbMemory& operator=(const UbMemory&) = delete;
  uint8_t* bytes() const { return bytes_; }
  // Fills the memory with NaN (all bits set is a NaN in float, half and bfloat16_t), so that a use of unwritten memory
  // shows.
  void Poison() { __builtin_memset(bytes_, 0xff, kSize); }

 private:
  UbMemory() : bytes_(static_cast<uint8_t*>(aligned_alloc(512, kSize))) {}

  static constexpr uint32_t kSize = kUbBytes + 64 * 1024;
  uint8_t* bytes_;
};

}  // namespace gn_twin
