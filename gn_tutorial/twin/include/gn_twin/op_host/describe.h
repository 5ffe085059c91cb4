// Describes every registered operator in one JSON document, which Python reads (gn_tutorial/projects/definition.py).
//
// Types and formats have the graph engine's names. The lists of types and formats are written as the definition gives
// them; Python combines them.
#pragma once
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "gn_twin/op_host/json_writer.h"
#include "gn_twin/op_host/registry.h"

namespace gn_twin {

inline const char* NameOf(ops::Option option) {
  switch (option) {
    case ops::OPTIONAL: return "optional";
    case ops::REQUIRED: return "required";
    case ops::DYNAMIC: return "dynamic";
    case ops::VIRTUAL: return "virtual";
    default: return "";
  }
}
inline const char* NameOf(ops::ScalarType type) {
  static const char* const kNames[] = {"uint64", "int64", "uint32", "int32",   "uint16",
                                       "int16",  "uint8", "int8",   "float32", "float16"};
  const uint32_t index = static_cast<uint32_t>(type);
  return index < sizeof(kNames) / sizeof(kNames[0]) ? kNames[index] : "";
}
inline const char* NameOf(ops::GntAttrType type) {
  static const char* const kNames[] = {"",          "bool",       "float",    "int",          "string",
                                       "list_bool", "list_float", "list_int", "list_list_int"};
  return kNames[static_cast<int>(type)];
}

class HostDescription {
 public:
  std::string Text() {
    json_.Open('{').Key("operators").Open('[');
    for (HostOperator& one : HostOperators()) Operator(one);
    json_.Close(']').Close('}');
    return json_.Text();
  }

 private:
  template <class Item>
  void Names(const char* key, const std::vector<Item>& items) {
    json_.Key(key).Open('[');
    for (const Item item : items) json_.Value(NameOf(item));
    json_.Close(']');
  }

  void Parameter(const ops::GntParam& param) {
    static const char* const kFollow[] = {"all", "dtype", "format", "shape"};
    json_.Open('{').Member("name", param.name).Member("kind", NameOf(param.type));
    Names("dtypes", param.types);
    Names("every_dtype", param.every_type);
    Names("query_dtypes", param.query_types);
    Names("formats", param.formats);
    Names("every_format", param.every_format);
    Names("query_formats", param.query_formats);
    Names("unknown_shape_formats", param.unknown_shape_formats);
    json_.Member("value_depend", NameOf(param.value_depend));
    json_.Member("depend_scope", param.depend_scope == ops::DependScope::TILING ? "tiling" : "all");
    json_.Member("scalar", param.scalar).Member("scalar_list", param.scalar_list);
    json_.Member("to_dtype", param.to_type == ge::DT_UNDEFINED ? "" : NameOf(param.to_type));
    json_.Member("to_input", param.to_input).Member("follow", param.follow);
    json_.Member("follow_what", kFollow[static_cast<uint32_t>(param.follow_type) % 4]);
    json_.Member("auto_contiguous", param.auto_contiguous).Member("ignore_contiguous", param.ignore_contiguous);
    json_.Member("shape_depends_on_compute", param.shape_depends_on_compute).Member("version", param.version);
    json_.Member("zeroed", param.zeroed).Key("initial").Open('[');
    for (const ops::ScalarVar& value : param.initial) {
      json_.Open('[').Value(NameOf(value.scalar_type));
      if (value.scalar_type == ops::ScalarType::FLOAT32 || value.scalar_type == ops::ScalarType::FLOAT16) {
        json_.Value(value.scalar_num.value_f32);
      } else if (value.scalar_type == ops::ScalarType::UINT64) {
        json_.Value(value.scalar_num.value_u64);
      } else {
        json_.Value(value.scalar_num.value_i64);
      }
      json_.Close(']');
    }
    json_.Close(']').Member("comment", param.comment).Close('}');
  }
  void Parameters(const char* key, const ops::GntParams& params) {
    json_.Key(key).Open('[');
    for (const ops::OpParamDef& param : params) Parameter(param.GntGet());
    json_.Close(']');
  }

  void Value(const ops::GntAttrValue& value) {
    std::visit(
        [this](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
            json_.Null();
          } else {
            json_.Value(held);
          }
        },
        value);
  }
  void Attributes(const ops::OpDef& op) {
    json_.Key("attributes").Open('[');
    for (const ops::OpAttrDef& attr : op.GntAttrs()) {
      json_.Open('{').Member("name", attr.GetName().GetString()).Member("type", NameOf(attr.GntType()));
      json_.Member("required", attr.GntRequired()).Key("default");
      Value(attr.GntDefault());
      json_.Member("version", attr.GntVersion()).Member("comment", attr.GntComment()).Close('}');
    }
    json_.Close(']');
  }

  void Settings(const char* key, const ops::GntSettings& settings) {
    json_.Key(key).Open('{');
    for (const auto& [name, value] : settings) json_.Member(name.c_str(), value);
    json_.Close('}');
  }

  void Chips(const ops::OpDef& op) {
    json_.Key("chips").Open('[');
    for (const auto& [soc, config] : op.GntAICore().GntChips()) {
      json_.Open('{').Member("name", soc);
      Settings("settings", config.GntGetSettings());
      Parameters("inputs", op.GntInputs(config));
      Parameters("outputs", op.GntOutputs(config));
      json_.Close('}');
    }
    json_.Close(']');
  }

  // Writes the registrations of a project for one operator: tiling and inference functions, functions that only the
  // graph engine calls, sizes, dependencies on data and on the computation, and private attributes.
  void Functions(HostOperator& one) {
    std::vector<std::string> names;
    if (one.Tiling() != nullptr) names.emplace_back("tiling");
    if (one.TilingParse() != nullptr || one.kernel_tiling_parse != nullptr) names.emplace_back("tiling_parse");
    if (one.InferShape() != nullptr) names.emplace_back("infer_shape");
    if (one.InferShapeRange() != nullptr) names.emplace_back("infer_shape_range");
    if (one.InferDataType() != nullptr) names.emplace_back("infer_data_type");
    std::vector<std::string> graph = one.graph_functions;
    if (one.Definition() != nullptr) {
      for (const std::string& name : one.Definition()->GntAICore().GntGraphFunctions()) graph.push_back(name);
    }
    json_.Member("functions", names).Member("graph_functions", graph);
    json_.Member("compile_info_bytes", static_cast<uint64_t>(one.compile_info.bytes));
    json_.Member("max_tiling_bytes", static_cast<uint64_t>(one.max_tiling_bytes));
    json_.Member("data_dependencies", one.data_dependencies);
    json_.Member("tiling_data_dependencies", one.tiling_data_dependencies);
    json_.Member("outputs_depending_on_compute", one.outputs_depending_on_compute);
    json_.Key("private_attributes").Open('{');
    for (const auto& [name, value] : one.private_attrs) {
      json_.Key(name.c_str());
      Value(value);
    }
    json_.Close('}');
  }

  void Definition(const ops::OpDef& op) {
    static const char* const kSections[] = {"brief", "constraints", "restrictions", "see", "third_party", "category"};
    Parameters("inputs", op.GntInputs());
    Parameters("outputs", op.GntOutputs());
    Attributes(op);
    Chips(op);
    json_.Member("launches_empty", op.GntAICore().GntLaunchesEmpty()).Member("fallback", op.GntFallsBack());
    json_.Member("strict_format", op.GntFormatCheck() == ops::FormatCheckOption::STRICT);
    json_.Member("groups", op.GntMC2().GntGroups());
    Settings("ai_cpu", op.GntAICPU().GntGetSettings());
    Settings("host_cpu", op.GntHostCPU().GntGetSettings());
    json_.Key("comments").Open('[');
    for (const auto& [section, comment] : op.GntComments()) {
      json_.Open('[').Value(kSections[static_cast<uint32_t>(section) % 6]).Value(comment).Close(']');
    }
    json_.Close(']');
  }

  void Operator(HostOperator& one) {
    json_.Open('{').Member("type", one.type).Member("defined_at", one.defined_at);
    Functions(one);
    if (one.Definition() != nullptr) Definition(*one.Definition());
    json_.Close('}');
  }

  JsonWriter json_;
};

inline std::string DescribeHostOperators() { return HostDescription().Text(); }

}  // namespace gn_twin
