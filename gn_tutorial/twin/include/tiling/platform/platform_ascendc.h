// What host code asks about the machine before it splits the work: numbers of cores, sizes of memories.
//
// Source: docs/zh/api, Utils-API/平台信息获取 (PlatformAscendC); the numbers are those of the machine that the twin imitates, the default
// chip of gn_tutorial/machines, with 24 cube and 48 vector cores.
#pragma once
#include <stdint.h>

#include "gn_twin/base/config.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };
enum class SocVersion { ASCEND910 = 0, ASCEND910B, ASCEND310P, ASCEND310B, ASCEND910_95, RESERVED_VERSION = 99999 };

class PlatformAscendC {
 public:
  PlatformAscendC() = default;
  // The argument is the tiling context's platform information, which only a framework has.
  template <class Info>
  explicit PlatformAscendC(Info*) {}

  uint32_t GetCoreNum() const { return kVectorCores; }
  uint32_t GetCoreNumAiv() const { return kVectorCores; }
  uint32_t GetCoreNumAic() const { return kVectorCores / 2; }
  uint32_t GetCoreNumVector() const { return 0; }  // of cores that are neither: other products only
  SocVersion GetSocVersion() const { return SocVersion::ASCEND910B; }
  uint32_t GetLibApiWorkSpaceSize() const { return 16 * 1024 * 1024; }
  void GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const {
    switch (type) {
      case CoreMemType::UB: bytes = gn_twin::kUbBytes; break;
      case CoreMemType::L1: bytes = 512 * 1024; break;
      case CoreMemType::L0_A: bytes = 64 * 1024; break;
      case CoreMemType::L0_B: bytes = 64 * 1024; break;
      case CoreMemType::L0_C: bytes = 128 * 1024; break;
      case CoreMemType::L2: bytes = 192ull * 1024 * 1024; break;
      default: bytes = 0; break;
    }
  }

 private:
  static constexpr uint32_t kVectorCores = 48;
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
