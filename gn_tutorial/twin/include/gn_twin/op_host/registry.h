// The registrations of a project's host files, in one list per process, by type of operator. OP_ADD registers a
// definition. IMPL_OP and similar macros, which operator repositories use, register functions. All host files are
// translation units of one program.
//
// Source: docs/zh/api, Utils-API/原型注册与管理/原型注册接口（OP_ADD） and Utils-API/Tiling下沉; docs/api of metadef,
// OpImplRegisterV2.md.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gn_twin/op_host/op_def.h"

namespace ge {
// Further status codes of the framework, besides GRAPH_SUCCESS.
constexpr uint32_t SUCCESS = 0, FAILED = 0xFFFFFFFF;
}  // namespace ge
// Host files of production operators write SUCCESS without ge:: (add_rms_norm_quant of cann-ops). This is a using
// directive, so that a SUCCESS that a project declares in a namespace takes precedence there.
namespace gn_twin::unqualified {
using ge::SUCCESS;
}
using namespace gn_twin::unqualified;

namespace gn_twin {

// Makes and destroys an object of the type that a tiling parse function writes. create is null if there is no such
// type.
struct CompileInfoType {
  size_t bytes = 0;
  void* (*create)() = nullptr;
  void (*destroy)(void*) = nullptr;

  template <class Info>
  static CompileInfoType Of() {
    return {sizeof(Info), [] { return static_cast<void*>(new Info()); },
            [](void* info) { delete static_cast<Info*>(info); }};
  }
};

// Everything registered under one type of operator. Functions of IMPL_OP take precedence over those of a definition.
class HostOperator {
 public:
  explicit HostOperator(std::string its_type) : type(std::move(its_type)) {}

  std::string type;
  std::vector<std::string> defined_at;  // file:line of each OP_ADD; more than one is a mistake
  std::function<std::unique_ptr<ops::OpDef>(const char*)> make;
  std::vector<std::pair<std::string, ops::OpAICoreConfig (*)()>> more_chips;

  TilingFunction tiling = nullptr;
  std::function<ge::graphStatus(gert::TilingContext*)> device_tiling;
  size_t max_tiling_bytes = 2048;
  TilingParseFunction tiling_parse = nullptr;
  uint32_t (*kernel_tiling_parse)(gert::KernelContext*) = nullptr;
  CompileInfoType compile_info;
  InferShapeFunction infer_shape = nullptr;
  InferShapeRangeFunction infer_shape_range = nullptr;
  InferDataTypeFunction infer_data_type = nullptr;
  bool output_types_as_first_input = false;
  std::vector<int32_t> data_dependencies, tiling_data_dependencies, host_inputs, outputs_depending_on_compute;
  std::vector<std::pair<std::string, ops::GntAttrValue>> private_attrs;
  std::vector<std::string> graph_functions;  // registered, and never called by the twin

  // Returns the definition; null if only functions are registered. It is constructed on first use, because a fault
  // while the program starts could not be reported.
  const ops::OpDef* Definition() {
    if (definition_ == nullptr && make != nullptr) {
      definition_ = make(type.c_str());
      for (const auto& [soc, configure] : more_chips) {
        bool known = false;  // AddConfig of the same chip has priority
        for (const auto& chip : definition_->GntAICore().GntChips()) known |= chip.first == soc;
        if (known) continue;
        ops::OpAICoreConfig config = configure();
        definition_->AICore().AddConfig(soc.c_str(), config);
      }
    }
    return definition_.get();
  }
  std::function<ge::graphStatus(gert::TilingContext*)> Tiling() {
    if (tiling != nullptr) return tiling;
    if (Definition() != nullptr && Definition()->GntAICore().GntTiling() != nullptr) {
      return Definition()->GntAICore().GntTiling();
    }
    return device_tiling;
  }
  TilingParseFunction TilingParse() {
    if (tiling_parse != nullptr || Definition() == nullptr) return tiling_parse;
    return Definition()->GntAICore().GntTilingParse();
  }
  InferShapeFunction InferShape() {
    return infer_shape != nullptr || Definition() == nullptr ? infer_shape : Definition()->GntInferShape();
  }
  InferShapeRangeFunction InferShapeRange() {
    return infer_shape_range != nullptr || Definition() == nullptr ? infer_shape_range
                                                                   : Definition()->GntInferShapeRange();
  }
  InferDataTypeFunction InferDataType() {
    return infer_data_type != nullptr || Definition() == nullptr ? infer_data_type : Definition()->GntInferDataType();
  }

 private:
  std::unique_ptr<ops::OpDef> definition_;
};

// Returns all registered operators. The list belongs to the process, not to a launch, because registration happens
// before main.
inline std::deque<HostOperator>& HostOperators() {
  static std::deque<HostOperator> operators;
  return operators;
}
inline HostOperator* FindHostOperator(const std::string& type) {
  for (HostOperator& one : HostOperators()) {
    if (one.type == type) return &one;
  }
  return nullptr;
}
inline HostOperator& RegisteredOperator(const char* type) {
  HostOperator* known = FindHostOperator(type);
  return known != nullptr ? *known : HostOperators().emplace_back(type);
}

template <class... Info>
bool AddDefinition(const char* type, const char* file, int line, ops::OpDef* (*make)(const char*)) {
  static_assert(sizeof...(Info) <= 1, "OP_ADD takes an operator and at most one type of compile information");
  HostOperator& one = RegisteredOperator(type);
  one.defined_at.push_back(std::string(file) + ":" + std::to_string(line));
  if (one.make == nullptr) {
    one.make = [make](const char* name) { return std::unique_ptr<ops::OpDef>(make(name)); };
    ((one.compile_info = CompileInfoType::Of<Info>()), ...);
  }
  return true;
}

}  // namespace gn_twin

namespace gert {

class OpImplRegisterV2 {
 public:
  using TilingKernelFunc = gn_twin::TilingFunction;
  using TilingParseFunc = gn_twin::TilingParseFunction;
  using KernelFunc = uint32_t (*)(KernelContext*);
  using InferShapeKernelFunc = gn_twin::InferShapeFunction;
  using InferShapeRangeKernelFunc = gn_twin::InferShapeRangeFunction;
  using InferDataTypeKernelFunc = gn_twin::InferDataTypeFunction;
  enum class TilingPlacement : uint32_t { TILING_ON_HOST = 0, TILING_ON_AICPU = 1 };

  explicit OpImplRegisterV2(const char* type) : its_(&gn_twin::RegisteredOperator(type)) {}

  OpImplRegisterV2& Tiling(TilingKernelFunc function, size_t max_tiling_data_size = 2048) {
    its_->tiling = function;
    its_->max_tiling_bytes = max_tiling_data_size;
    return *this;
  }
  template <class Info>
  OpImplRegisterV2& TilingParse(TilingParseFunc function) {
    its_->tiling_parse = function;
    its_->compile_info = gn_twin::CompileInfoType::Of<Info>();
    return *this;
  }
  template <class Info>
  OpImplRegisterV2& TilingParse(KernelFunc function) {
    its_->kernel_tiling_parse = function;
    its_->compile_info = gn_twin::CompileInfoType::Of<Info>();
    return *this;
  }
  OpImplRegisterV2& InferShape(InferShapeKernelFunc function) { return its_->infer_shape = function, *this; }
  OpImplRegisterV2& InferShapeRange(InferShapeRangeKernelFunc function) {
    return its_->infer_shape_range = function, *this;
  }
  OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc function) { return its_->infer_data_type = function, *this; }
  OpImplRegisterV2& InferOutDataTypeSameWithFirstInput() { return its_->output_types_as_first_input = true, *this; }
  OpImplRegisterV2& InputsDataDependency(std::initializer_list<int32_t> inputs) {
    return its_->data_dependencies = inputs, *this;
  }
  OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs) {
    return its_->tiling_data_dependencies = inputs, *this;
  }
  OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs,
                                               std::initializer_list<TilingPlacement>) {
    return TilingInputsDataDependency(inputs);
  }
  OpImplRegisterV2& HostInputs(std::initializer_list<int32_t> inputs) { return its_->host_inputs = inputs, *this; }
  OpImplRegisterV2& OutputShapeDependOnCompute(std::initializer_list<int32_t> outputs) {
    return its_->outputs_depending_on_compute = outputs, *this;
  }
  OpImplRegisterV2& PrivateAttr(const char* name) { return Private(name, {}); }
  OpImplRegisterV2& PrivateAttr(const char* name, int64_t value) { return Private(name, value); }
  OpImplRegisterV2& PrivateAttr(const char* name, float value) { return Private(name, value); }
  OpImplRegisterV2& PrivateAttr(const char* name, bool value) { return Private(name, value); }
  OpImplRegisterV2& PrivateAttr(const char* name, const char* value) { return Private(name, std::string(value)); }
  OpImplRegisterV2& PrivateAttr(const char* name, const std::vector<int64_t>& value) { return Private(name, value); }
  OpImplRegisterV2& PrivateAttr(const char* name, const std::vector<float>& value) { return Private(name, value); }
  // Functions of the graph engine. The twin lacks their contexts, so it takes functions of any type and records only
  // the name of each registration.
  template <class Function>
  OpImplRegisterV2& InferFormat(Function) {
    return Graph("infer_format");
  }
  template <class Function>
  OpImplRegisterV2& GenSimplifiedKey(Function) {
    return Graph("gen_simplified_key");
  }
  template <class Function>
  OpImplRegisterV2& OpExecuteFunc(Function) {
    return Graph("op_execute");
  }
  template <class Prepare, class Launch>
  OpImplRegisterV2& Op2StageExecuteFuncs(Prepare, Launch) {
    return Graph("op_execute_in_two_stages");
  }
  template <class Function>
  OpImplRegisterV2& CalcOpParam(Function) {
    return Graph("calc_op_param");
  }
  template <class Function>
  OpImplRegisterV2& GenerateTask(Function) {
    return Graph("generate_task");
  }
  template <class Function>
  OpImplRegisterV2& CheckSupport(Function) {
    return Graph("check_support");
  }
  template <class Function>
  OpImplRegisterV2& OpSelectFormat(Function) {
    return Graph("op_select_format");
  }

 private:
  OpImplRegisterV2& Private(const char* name, ops::GntAttrValue value) {
    return its_->private_attrs.emplace_back(name, std::move(value)), *this;
  }
  OpImplRegisterV2& Graph(const char* function) { return its_->graph_functions.emplace_back(function), *this; }

  gn_twin::HostOperator* its_;
};

}  // namespace gert

namespace optiling {

using SinkTilingFunc = std::function<ge::graphStatus(gert::TilingContext* context)>;

// Registers a tiling function that can also run on the device's CPU. The host calls it if no other is registered.
class DeviceOpImplRegister {
 public:
  explicit DeviceOpImplRegister(const char* type) : its_(&gn_twin::RegisteredOperator(type)) {}
  DeviceOpImplRegister& Tiling(SinkTilingFunc function) { return its_->device_tiling = std::move(function), *this; }

 private:
  gn_twin::HostOperator* its_;
};

}  // namespace optiling

// The operator is constructed in the registering file itself, by a lambda, because two files may have classes of the
// same name in unnamed namespaces.
#define OP_ADD(OP, ...)                                                                       \
  [[maybe_unused]] static const bool gnt_op_add_##OP = ::gn_twin::AddDefinition<__VA_ARGS__>( \
      #OP, __FILE__, __LINE__, [](const char* gnt_type) -> ::ops::OpDef* { return new OP(gnt_type); })
#define IMPL_OP(OP) [[maybe_unused]] static ::gert::OpImplRegisterV2 gnt_impl_##OP = ::gert::OpImplRegisterV2(#OP)
#define IMPL_OP_OPTILING(OP) \
  [[maybe_unused]] static ::gert::OpImplRegisterV2 gnt_impl_tiling_##OP = ::gert::OpImplRegisterV2(#OP)
#define IMPL_OP_INFERSHAPE(OP) \
  [[maybe_unused]] static ::gert::OpImplRegisterV2 gnt_impl_infershape_##OP = ::gert::OpImplRegisterV2(#OP)
#define DEVICE_IMPL_OP_OPTILING(OP) \
  [[maybe_unused]] static ::optiling::DeviceOpImplRegister gnt_impl_device_##OP = ::optiling::DeviceOpImplRegister(#OP)
// The callback is __VA_ARGS__, because it may be a lambda with commas of its own.
#define REGISTER_OP_AICORE_CONFIG(OP, SOC, ...)                 \
  [[maybe_unused]] static const bool gnt_op_chip_##OP##_##SOC = \
      (::gn_twin::RegisteredOperator(#OP).more_chips.emplace_back(#SOC, __VA_ARGS__), true)
