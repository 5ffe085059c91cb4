// The part of an operator's definition that depends on the processor: the supported chips with their settings, and the
// operator's functions and settings for AI cores and CPUs.
//
// Source: docs/zh/api, Utils-API/原型注册与管理: OpAICoreConfig, OpAICoreDef, OpMC2Def, OpAICPUDef, OpHostCPUDef.
#pragma once
#include <stdint.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gn_twin/op_host/host_functions.h"
#include "gn_twin/op_host/op_param.h"

namespace ops {

// A deque, so that references to its elements stay valid when a definition adds a parameter.
using GntParams = std::deque<OpParamDef>;
using GntSettings = std::vector<std::pair<std::string, std::string>>;

// Returns the entry with this name, and adds it if there is none. So a second call with the name changes the same
// entry.
template <class Entries>
typename Entries::value_type& GntFindOrAdd(Entries& entries, const char* name) {
  for (auto& entry : entries) {
    if (entry.GntGet().name == name) return entry;
  }
  return entries.emplace_back(name);
}
inline void GntSet(GntSettings& settings, const std::string& key, std::string value) {
  for (auto& [name, known] : settings) {
    if (name == key) {
      known = std::move(value);
      return;
    }
  }
  settings.emplace_back(key, std::move(value));
}

class OpAICoreConfig {
 public:
  OpAICoreConfig() {}  // not defaulted, so that the driver's object has its code (compiler/project_build.py)
  // Makes the configuration of a chip, given its name. The flags have the values that AddConfig(soc) sets.
  explicit OpAICoreConfig(const char*) {
    DynamicCompileStaticFlag(true).DynamicFormatFlag(true).DynamicRankSupportFlag(true).DynamicShapeSupportFlag(true);
    NeedCheckSupportFlag(false).PrecisionReduceFlag(true);
  }
  OpAICoreConfig(const OpAICoreConfig&) = default;
  OpAICoreConfig& operator=(const OpAICoreConfig&) = default;

  OpParamDef& Input(const char* name) { return GntFindOrAdd(inputs_, name); }
  OpParamDef& Output(const char* name) { return GntFindOrAdd(outputs_, name); }
  OpAICoreConfig& DynamicCompileStaticFlag(bool flag) { return Flag("dynamicCompileStatic.flag", flag); }
  OpAICoreConfig& DynamicFormatFlag(bool flag) { return Flag("dynamicFormat.flag", flag); }
  OpAICoreConfig& DynamicRankSupportFlag(bool flag) { return Flag("dynamicRankSupport.flag", flag); }
  OpAICoreConfig& DynamicShapeSupportFlag(bool flag) { return Flag("dynamicShapeSupport.flag", flag); }
  OpAICoreConfig& NeedCheckSupportFlag(bool flag) { return Flag("needCheckSupport.flag", flag); }
  OpAICoreConfig& PrecisionReduceFlag(bool flag) { return Flag("precision_reduce.flag", flag); }
  OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value) { return GntSet(settings_, key, value), *this; }

  const GntParams& GntInputs() const { return inputs_; }
  const GntParams& GntOutputs() const { return outputs_; }
  const GntSettings& GntGetSettings() const { return settings_; }

 private:
  OpAICoreConfig& Flag(const char* key, bool flag) { return GntSet(settings_, key, flag ? "true" : "false"), *this; }

  GntParams inputs_, outputs_;
  GntSettings settings_;
};

class OpAICoreDef {
 public:
  OpAICoreDef& SetTiling(gn_twin::TilingFunction function) { return tiling_ = function, *this; }
  OpAICoreDef& SetTilingParse(gn_twin::TilingParseFunction function) { return tiling_parse_ = function, *this; }
  OpAICoreDef& SetCheckSupport(gn_twin::CheckFunction function) { return check_support_ = function, *this; }
  OpAICoreDef& SetOpSelectFormat(gn_twin::CheckFunction function) { return select_format_ = function, *this; }
  OpAICoreDef& SetOpSupportInfo(gn_twin::CheckFunction function) { return support_info_ = function, *this; }
  OpAICoreDef& SetOpSpecInfo(gn_twin::CheckFunction function) { return spec_info_ = function, *this; }
  OpAICoreDef& SetParamGeneralize(gn_twin::GeneralizeFunction function) { return generalize_ = function, *this; }
  OpAICoreDef& LaunchWithZeroEleOutputTensors(bool launch) { return launch_empty_ = launch, *this; }
  // Adds a chip, or replaces it. In the documentation AddConfig returns nothing, but samples of CANN 9 chain its calls.
  OpAICoreDef& AddConfig(const char* soc) {
    OpAICoreConfig config(soc);
    return AddConfig(soc, config);
  }
  OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig& config) {
    for (auto& [name, known] : chips_) {
      if (name == soc) {
        known = config;
        return *this;
      }
    }
    chips_.emplace_back(soc, config);
    return *this;
  }

  gn_twin::TilingFunction GntTiling() const { return tiling_; }
  gn_twin::TilingParseFunction GntTilingParse() const { return tiling_parse_; }
  // Returns the names of the registered functions of the graph engine, which the twin lists but never calls.
  std::vector<std::string> GntGraphFunctions() const {
    std::vector<std::string> names;
    if (check_support_ != nullptr) names.emplace_back("check_support");
    if (select_format_ != nullptr) names.emplace_back("op_select_format");
    if (support_info_ != nullptr) names.emplace_back("op_support_info");
    if (spec_info_ != nullptr) names.emplace_back("op_spec_info");
    if (generalize_ != nullptr) names.emplace_back("param_generalize");
    return names;
  }
  bool GntLaunchesEmpty() const { return launch_empty_; }
  const std::vector<std::pair<std::string, OpAICoreConfig>>& GntChips() const { return chips_; }

 private:
  gn_twin::TilingFunction tiling_ = nullptr;
  gn_twin::TilingParseFunction tiling_parse_ = nullptr;
  gn_twin::CheckFunction check_support_ = nullptr, select_format_ = nullptr, support_info_ = nullptr;
  gn_twin::CheckFunction spec_info_ = nullptr;
  gn_twin::GeneralizeFunction generalize_ = nullptr;
  bool launch_empty_ = false;
  std::vector<std::pair<std::string, OpAICoreConfig>> chips_;
};

enum HcclServerType : uint32_t { AICPU = 0, AICORE, CCU, MAX };

// The settings of operators that also communicate between devices. The twin has only one device, so it only records the
// groups and the server types.
class OpMC2Def {
 public:
  OpMC2Def& HcclGroup(const char* group) { return groups_.emplace_back(group), *this; }
  OpMC2Def& HcclGroup(std::vector<const char*> groups) {
    for (const char* group : groups) groups_.emplace_back(group);
    return *this;
  }
  void HcclServerType(enum HcclServerType type, const char* soc = nullptr) {
    servers_.emplace_back(soc == nullptr ? "" : soc, type);
  }

  const std::vector<std::string>& GntGroups() const { return groups_; }
  const std::vector<std::pair<std::string, uint32_t>>& GntServers() const { return servers_; }

 private:
  std::vector<std::string> groups_;
  std::vector<std::pair<std::string, uint32_t>> servers_;
};

// The settings of an operator's CPU implementation. The device's AI CPU and the host's CPU have the same calls.
template <class Self>
class GntCpuDef {
 public:
  Self& Engine(const char* value) { return Set("engine", value); }
  Self& ComputeCost(const char* value) { return Set("compute_cost", value); }
  Self& FlagPartial(bool flag) { return Set("flag_partial", flag ? "true" : "false"); }
  Self& FlagAsync(bool flag) { return Set("flag_async", flag ? "true" : "false"); }
  Self& KernelSo(const char* value) { return Set("kernel_so", value); }
  Self& FunctionName(const char* value) { return Set("function_name", value); }
  Self& UserDefined(bool flag) { return Set("user_defined", flag ? "true" : "false"); }
  Self& OpkernelLib(const char* value) { return Set("op_kernel_lib", value); }
  Self& ExtendCfgInfo(const char* key, const char* value) { return Set(key, value); }

  const GntSettings& GntGetSettings() const { return settings_; }

 private:
  Self& Set(const char* key, const char* value) {
    GntSet(settings_, key, value);
    return static_cast<Self&>(*this);
  }

  GntSettings settings_;
};
class OpAICPUDef : public GntCpuDef<OpAICPUDef> {};
class OpHostCPUDef : public GntCpuDef<OpHostCPUDef> {};

}  // namespace ops
