// The chip's properties for host code: numbers of cores, sizes of memories.
//
// Source: docs/zh/api, Utils-API/平台信息获取 (PlatformAscendC); the numbers are those of gn_twin/host/platform.h.
#pragma once
#include <stdint.h>

#include <string>

#include "gn_twin/host/platform.h"

enum class NpuArch : uint32_t {
  DAV_1001 = 1001,
  DAV_2002 = 2002,
  DAV_2201 = 2201,
  DAV_3002 = 3002,
  DAV_3003 = 3003,
  DAV_3102 = 3102,
  DAV_3113 = 3113,
  DAV_3510 = 3510,
  DAV_5102 = 5102,
  DAV_RESV = 0xFFFF
};

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };
// Compare these versions by name only, because their numbers changed between releases.
enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,
  ASCEND310P,
  ASCEND310B,
  ASCEND910_93,
  ASCEND910_95,
  ASCEND950,
  KIRINX90,
  KIRIN9030,
  RESERVED_VERSION = 99999
};

class PlatformAscendC {
 public:
  PlatformAscendC() = default;
  // The argument, the tiling context's platform information, is ignored, because a process has only one chip.
  template <class Info>
  explicit PlatformAscendC(Info*) {}

  uint32_t GetCoreNum() const { return Chip().Cores(); }
  uint32_t GetCoreNumAiv() const { return Chip().vector_cores; }
  uint32_t GetCoreNumAic() const { return Chip().cube_cores; }
  uint32_t GetCoreNumVector() const { return Chip().vector_only_cores; }
  SocVersion GetSocVersion() const {
    const std::string& family = Chip().family;
    if (family == "Ascend910B" || family == "Ascend910_93") return SocVersion::ASCEND910B;
    if (family == "Ascend310P") return SocVersion::ASCEND310P;
    if (family == "Ascend310B") return SocVersion::ASCEND310B;
    if (family == "Ascend910_95") return SocVersion::ASCEND910_95;
    if (family == "Ascend910") return SocVersion::ASCEND910;
    return SocVersion::RESERVED_VERSION;
  }
  NpuArch GetCurNpuArch() const { return static_cast<NpuArch>(Chip().arch); }
  uint32_t GetLibApiWorkSpaceSize() const { return Chip().library_workspace; }
  uint32_t GetResGroupBarrierWorkSpaceSize() const { return 0; }
  uint32_t GetResCubeGroupWorkSpaceSize() const { return 0; }
  // Returns the smallest number of blocks that covers `slices` parts of work, if a block has `vector` / `cube` vector
  // cores; `slices` if one of the two is 0, or if `cube` is larger than `vector`.
  uint32_t CalcTschBlockDim(uint32_t slices, uint32_t cube, uint32_t vector) const {
    if (cube == 0 || vector == 0 || cube > vector) return slices;
    const uint32_t ratio = vector / cube;
    return (slices + ratio - 1) / ratio;
  }
  uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t cube, uint32_t vector) const {
    return CalcTschBlockDim(slices, cube, vector);
  }
  void GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const {
    bytes = Chip().Bytes(static_cast<uint32_t>(type));
  }

 private:
  static const gn_twin::host::Platform& Chip() { return gn_twin::host::ThisPlatform(); }
};

class PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance() {
    static PlatformAscendC platform;
    return &platform;
  }
  static PlatformAscendC* GetInstance(const char*) { return GetInstance(); }
};

}  // namespace platform_ascendc
