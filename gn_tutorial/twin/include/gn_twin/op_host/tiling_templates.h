// Tiling by templates, as in operator repositories: an operator has several tiling classes, each with a priority, and
// the first capable class tiles.
//
// Source: ops-nn, docs and use. After GRAPH_PARAM_INVALID the class with the next higher priority number tries, or the
// next one in a given list of priorities; any other status ends the search. TilingBaseClass defines the steps of a
// tiling and their order; classes of operators override the steps.
#pragma once
#include <stdint.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gn_twin/op_host/contexts.h"
#include "gn_twin/op_host/base_shapes.h"
#include "gn_twin/op_host/log_macros.h"
#include "gn_twin/host/platform_ascendc.h"

namespace Ops::NN::Optiling {

struct AiCoreParams {
  uint64_t ubSize = 0, blockDim = 0, numBlocks = 0, aicNum = 0, l1Size = 0, l0aSize = 0, l0bSize = 0, l0cSize = 0;
};

struct CompileInfoCommon {
  uint32_t aivNum = 0, aicNum = 0;
  uint64_t ubSize = 0, l1Size = 0, l0aSize = 0, l0bSize = 0, l0cSize = 0, l2CacheSize = 0;
  int64_t coreNum = 0;
  int32_t socVersion = 0;
  uint32_t rsvd = 0;
};

class TilingBaseClass {
 public:
  explicit TilingBaseClass(gert::TilingContext* context) : context_(context) {}
  virtual ~TilingBaseClass() = default;

  ge::graphStatus DoTiling() {
    using Step = ge::graphStatus (TilingBaseClass::*)();
    constexpr Step kBefore[] = {&TilingBaseClass::GetShapeAttrsInfo, &TilingBaseClass::GetPlatformInfo};
    constexpr Step kAfter[] = {&TilingBaseClass::DoOpTiling, &TilingBaseClass::DoLibApiTiling,
                               &TilingBaseClass::GetWorkspaceSize, &TilingBaseClass::PostTiling};
    for (Step step : kBefore) {
      if (const ge::graphStatus status = (this->*step)(); status != ge::GRAPH_SUCCESS) return status;
    }
    if (!IsCapable()) return ge::GRAPH_PARAM_INVALID;
    for (Step step : kAfter) {
      if (const ge::graphStatus status = (this->*step)(); status != ge::GRAPH_SUCCESS) return status;
    }
    context_->SetTilingKey(GetTilingKey());
    DumpTilingInfo();
    return ge::GRAPH_SUCCESS;
  }
  virtual void Reset(gert::TilingContext* context) { context_ = context; }

 protected:
  virtual bool IsCapable() = 0;
  virtual ge::graphStatus GetPlatformInfo() = 0;
  virtual ge::graphStatus GetShapeAttrsInfo() = 0;
  virtual ge::graphStatus DoOpTiling() = 0;
  virtual ge::graphStatus DoLibApiTiling() = 0;
  [[nodiscard]] virtual uint64_t GetTilingKey() const = 0;
  virtual ge::graphStatus GetWorkspaceSize() = 0;
  virtual ge::graphStatus PostTiling() = 0;
  virtual void DumpTilingInfo() {}

  // Returns the smallest number of blocks that covers `slices` slices, if a block has vector_cores / cube_cores vector
  // cores with one slice each. Returns `slices` if there are no cube cores, or more of them than vector cores.
  static uint32_t CalcTschBlockDim(uint32_t slices, uint32_t cube_cores, uint32_t vector_cores) {
    if (cube_cores == 0 || vector_cores < cube_cores) return slices;
    const uint32_t beside = vector_cores / cube_cores;
    return (slices + beside - 1) / beside;
  }
  template <class Shape>
  [[nodiscard]] std::string GetShapeDebugStr(const Shape& shape) const {
    return Ops::Base::ToString(shape);
  }

  gert::TilingContext* context_ = nullptr;
  std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_;
  uint32_t blockDim_ = 0;
  uint64_t workspaceSize_ = 0;
  uint64_t tilingKey_ = 0;
  AiCoreParams aicoreParams_;
};

// The tiling classes of each operator by priority, for each kind of chip (an architecture or a version) or for all
// chips.
class TilingRegistry {
 public:
  using Make = std::unique_ptr<TilingBaseClass> (*)(gert::TilingContext*);
  using Classes = std::map<int32_t, Make>;
  static constexpr int32_t kAnyChip = -1;

  static TilingRegistry& GetInstance() {
    static TilingRegistry registry;
    return registry;
  }

  template <class T>
  bool Add(const std::string& op_type, int32_t priority, int32_t chip = kAnyChip) {
    Make make = [](gert::TilingContext* context) -> std::unique_ptr<TilingBaseClass> {
      return std::make_unique<T>(context);
    };
    const bool added = classes_[chip][op_type].emplace(priority, make).second;
    if (!added) OP_LOGE(op_type, "two tiling classes have the priority %d; the first one counts", priority);
    return added;
  }
  template <class T>
  bool Add(const std::string& op_type, int32_t priority, const std::vector<int32_t>& chips) {
    bool added = true;
    for (int32_t chip : chips) added = Add<T>(op_type, priority, chip) && added;
    return added;
  }

  ge::graphStatus DoTilingImpl(gert::TilingContext* context) { return Tile(context, kAnyChip, nullptr); }
  ge::graphStatus DoTilingImpl(gert::TilingContext* context, const std::vector<int32_t>& priorities) {
    return Tile(context, kAnyChip, &priorities);
  }

 protected:
  ge::graphStatus Tile(gert::TilingContext* context, int32_t chip, const std::vector<int32_t>* priorities) {
    const char* type = context->GetNodeType();
    const Classes& all = classes_[chip][type == nullptr ? "" : type];
    std::vector<int32_t> order;
    if (priorities != nullptr) {
      order = *priorities;
    } else {
      for (const auto& one : all) order.push_back(one.first);
    }
    for (int32_t priority : order) {
      const auto found = all.find(priority);
      if (found == all.end()) continue;
      const ge::graphStatus status = found->second(context)->DoTiling();
      if (status != ge::GRAPH_PARAM_INVALID) return status;
      OP_LOGD(context, "the tiling class of priority %d is not capable", priority);
    }
    OP_LOGE(type, all.empty() ? "no tiling class is registered for this chip" : "none of %zu tiling classes is capable",
            all.size());
    return ge::GRAPH_FAILED;
  }

 private:
  std::map<int32_t, std::map<std::string, Classes>> classes_;
};

// Chooses the classes by the architecture of the call's chip, or by a given one.
class TilingRegistryArch : public TilingRegistry {
 public:
  static TilingRegistryArch& GetInstance() {
    static TilingRegistryArch registry;
    return registry;
  }
  ge::graphStatus DoTilingImpl(gert::TilingContext* context) { return Tile(context, ChipOf(context), nullptr); }
  ge::graphStatus DoTilingImpl(gert::TilingContext* context, const std::vector<int32_t>& priorities) {
    return Tile(context, ChipOf(context), &priorities);
  }
  ge::graphStatus DoTilingImpl(gert::TilingContext* context, const std::vector<int32_t>& priorities, int32_t chip) {
    return Tile(context, chip, &priorities);
  }

 private:
  static int32_t ChipOf(gert::TilingContext* context) {
    return static_cast<int32_t>(platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCurNpuArch());
  }
};

// Chooses the classes by the version of the call's chip.
class TilingRegistryNew : public TilingRegistry {
 public:
  static TilingRegistryNew& GetInstance() {
    static TilingRegistryNew registry;
    return registry;
  }
  ge::graphStatus DoTilingImpl(gert::TilingContext* context) { return Tile(context, ChipOf(context), nullptr); }
  ge::graphStatus DoTilingImpl(gert::TilingContext* context, const std::vector<int32_t>& priorities) {
    return Tile(context, ChipOf(context), &priorities);
  }

 private:
  static int32_t ChipOf(gert::TilingContext* context) {
    return static_cast<int32_t>(platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetSocVersion());
  }
};

}  // namespace Ops::NN::Optiling

// The same names in the namespace that several repositories share.
namespace Ops::Base {
using NN::Optiling::AiCoreParams;
using NN::Optiling::CompileInfoCommon;
using NN::Optiling::TilingBaseClass;
}  // namespace Ops::Base

// Each registration has a unique name, because an operator may register a class under several priorities, given as
// numbers or as names.
#define GNT_TILING_CLASS_NAME(LINE) GNT_TILING_CLASS_NAME_(LINE)
#define GNT_TILING_CLASS_NAME_(LINE) gnt_tiling_class_##LINE
#define GNT_ADD_TILING_CLASS(REGISTRY, OP, CLASS, ...)                    \
  [[maybe_unused]] static const bool GNT_TILING_CLASS_NAME(__COUNTER__) = \
      Ops::NN::Optiling::REGISTRY::GetInstance().Add<CLASS>(OP, __VA_ARGS__)
#define REGISTER_TILING_TEMPLATE(OP, CLASS, PRIORITY) GNT_ADD_TILING_CLASS(TilingRegistry, OP, CLASS, PRIORITY)
#define REGISTER_OPS_TILING_TEMPLATE(OP, CLASS, PRIORITY) GNT_ADD_TILING_CLASS(TilingRegistry, #OP, CLASS, PRIORITY)
#define REGISTER_TILING_TEMPLATE_NEW(OP, CLASS, SOC, PRIORITY) \
  GNT_ADD_TILING_CLASS(TilingRegistryNew, #OP, CLASS, PRIORITY, SOC)
#define REGISTER_TILING_TEMPLATE_WITH_SOCVERSION(OP, CLASS, SOCS, PRIORITY) \
  GNT_ADD_TILING_CLASS(TilingRegistryNew, #OP, CLASS, PRIORITY, SOCS)
#define REGISTER_TILING_TEMPLATE_WITH_ARCH(OP, CLASS, ARCHS, PRIORITY) \
  GNT_ADD_TILING_CLASS(TilingRegistryArch, #OP, CLASS, PRIORITY, ARCHS)
