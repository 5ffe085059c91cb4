// The chip for host code: cores, sizes of memories, names. The driver (op_host/driver.h) sets the chip before it
// calls a tiling function; a sample with its own main gets the default chip.
//
// Source of the numbers: the ini files of CANN 8.1 (platform_config), as in gn_tutorial/projects/chips.toml. The
// toolkit reserves 256 bytes of the Unified Buffer and of the L1 of Ascend910B (asc-devkit, platform_ascendc.cpp:
// LOCAL_RESERV_SIZE), so GetCoreMemSize returns 196352 there, not 196608.
#pragma once
#include <stdint.h>

#include <string>

#include "gn_twin/base/abi.h"
#include "gn_twin/base/config.h"

namespace gn_twin::host {

struct Platform {
  std::string soc = "Ascend910B2";
  std::string family = "Ascend910B";  // the short name of the chip
  uint32_t vector_cores = GNT_DEFAULT_CORES;
  uint32_t cube_cores = 24;
  uint32_t vector_only_cores = 0;  // GetCoreNumVector: cores beside the AI cores, on Ascend310P
  bool separate = true;            // vector and cube cores are separate cores
  uint64_t ub_bytes = kUbBytes;
  uint64_t l1_bytes = 512 * 1024;
  uint64_t l0a_bytes = 64 * 1024;
  uint64_t l0b_bytes = 64 * 1024;
  uint64_t l0c_bytes = 128 * 1024;
  uint64_t l2_bytes = 192ull * 1024 * 1024;
  uint32_t library_workspace = 16 * 1024 * 1024;
  uint32_t arch = 2201;  // __NPU_ARCH__

  // Returns the number of cores that run a vector operator: the vector cores, or the AI cores if both are the same.
  uint32_t Cores() const { return separate ? vector_cores : cube_cores; }
  // Returns the bytes of a memory by its number in CoreMemType and LocalMemType: L0A 0, L0B 1, L0C 2, L1 3, L2 4, UB 5;
  // 0 for any other number.
  uint64_t Bytes(uint32_t memory) const {
    const uint64_t reserved = family == "Ascend910B" ? 256 : 0;
    const uint64_t bytes[] = {l0a_bytes, l0b_bytes, l0c_bytes, l1_bytes - reserved, l2_bytes, ub_bytes - reserved};
    return memory < 6 ? bytes[memory] : 0;
  }
};

inline Platform& ThisPlatform() {
  static Platform platform;
  return platform;
}

}  // namespace gn_twin::host
