// The framework's information on the chip, by section and key as in its configuration files: fe::PlatFormInfos.
//
// Source: the ini files of CANN 8.1. Only the sections and keys that operator repositories ask for are here.
#pragma once
#include <stdint.h>

#include <map>
#include <string>

#include "gn_twin/host/platform.h"

namespace fe {

// The memories of the chip, with the framework's numbers.
enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class PlatFormInfos {
 public:
  bool GetPlatformRes(const std::string& section, const std::string& key, std::string& value) {
    const auto found = All().find(section + "." + key);
    if (found == All().end()) return false;
    value = found->second;
    return true;
  }
  bool GetPlatformResWithLock(const std::string& section, const std::string& key, std::string& value) {
    return GetPlatformRes(section, key, value);
  }
  uint32_t GetCoreNum() const { return gn_twin::host::ThisPlatform().Cores(); }
  uint32_t GetCoreNumByType(const std::string& type) const {
    const gn_twin::host::Platform& chip = gn_twin::host::ThisPlatform();
    return type == "VectorCore" ? chip.vector_cores : chip.cube_cores;
  }
  void SetCoreNumByCoreType(const std::string&) {}
  void GetLocalMemSize(const LocalMemType& type, uint64_t& bytes) const {
    bytes = gn_twin::host::ThisPlatform().Bytes(static_cast<uint32_t>(type));
  }

 private:
  static const std::map<std::string, std::string>& All() {
    static const std::map<std::string, std::string> all = [] {
      const gn_twin::host::Platform& chip = gn_twin::host::ThisPlatform();
      return std::map<std::string, std::string>{
          {"version.Short_SoC_version", chip.family},
          {"version.SoC_version", chip.soc},
          {"version.NpuArch", std::to_string(chip.arch)},
          {"SoCInfo.ai_core_cnt", std::to_string(chip.cube_cores)},
          {"SoCInfo.cube_core_cnt", std::to_string(chip.cube_cores)},
          {"SoCInfo.vector_core_cnt", std::to_string(chip.vector_cores)},
          {"SoCInfo.core_type_list", chip.separate ? "CubeCore,VectorCore" : "AICore"},
          {"SoCInfo.l2_size", std::to_string(chip.l2_bytes)},
          {"AICoreSpec.ub_size", std::to_string(chip.ub_bytes)},
          {"AICoreSpec.l1_size", std::to_string(chip.l1_bytes)},
          {"AICoreSpec.ub_block_size", "32"},
      };
    }();
    return all;
  }
};
using PlatformInfos = PlatFormInfos;

// The chip in the older interface, which has structs in place of sections and keys.
struct StrInfo {
  std::string short_soc_version = gn_twin::host::ThisPlatform().family;
};
struct SoCInfo {
  uint32_t ai_core_cnt = gn_twin::host::ThisPlatform().cube_cores;
  uint32_t vector_core_cnt = gn_twin::host::ThisPlatform().vector_cores;
  uint64_t l2_size = gn_twin::host::ThisPlatform().l2_bytes;
};
struct AiCoreSpec {
  uint64_t ub_size = gn_twin::host::ThisPlatform().ub_bytes;
  uint64_t l1_size = gn_twin::host::ThisPlatform().l1_bytes;
};
struct PlatformInfo {
  StrInfo str_info;
  SoCInfo soc_info;
  AiCoreSpec ai_core_spec;
};
struct OptionalInfo {
  std::string soc_version = gn_twin::host::ThisPlatform().soc;
};
class PlatformInfoManager {
 public:
  static PlatformInfoManager& Instance() {
    static PlatformInfoManager manager;
    return manager;
  }
  // Returns 0, success, because the information always exists.
  uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo& platform, OptionalInfo& optional) {
    platform = {};
    optional = {};
    return 0;
  }
  uint32_t GetPlatformInfo(const std::string&, PlatformInfo& platform, OptionalInfo& optional) {
    return GetPlatformInfoWithOutSocVersion(platform, optional);
  }
};

}  // namespace fe
