// Template tiling in host code: its macros turn the declarations into data, and record the choice of a tiling function.
//
// Source: docs/zh/api, Utils-API/Tiling模板编程. In kernels the same macros do nothing: gn_twin/basic_api/tiling.h.
#pragma once
#include <concepts>
#include <initializer_list>
#include <list>
#include <type_traits>

#include "gn_twin/op_host/logs.h"
#include "gn_twin/op_host/template_choice.h"

namespace gn_twin::op_host {

// The template of one operator. The process keeps a list of all templates, and a list of the choices that tiling
// functions made, in order.
struct DeclaredTemplate {
  std::string op_type;
  TilingDeclareParams parameters;
};
inline std::list<DeclaredTemplate>& DeclaredTemplates() {
  static std::list<DeclaredTemplate> all;  // a list, so that references to its elements stay valid
  return all;
}
inline const TilingDeclareParams& Declare(const char* op_type, TilingDeclareParams parameters) {
  return DeclaredTemplates().emplace_back(DeclaredTemplate{op_type, std::move(parameters)}).parameters;
}
inline std::vector<TemplateChoice>& Choices() {
  static std::vector<TemplateChoice> all;
  return all;
}
// Returns the last choice that gave this key; nullptr if no GET_TPL_TILING_KEY gave it.
inline const TemplateChoice* ChoiceOf(uint64_t key) {
  const TemplateChoice* found = nullptr;
  for (const TemplateChoice& choice : Choices()) found = choice.key == key && choice.wrong.empty() ? &choice : found;
  return found;
}
// Decodes a key written as a number (SetTilingKey(0)) with this operator's template, or with the only template. Returns
// the choice; `wrong` says why if there is none.
inline TemplateChoice ChoiceOfNumber(const std::string& op_type, uint64_t key) {
  for (const DeclaredTemplate& one : DeclaredTemplates()) {
    if (one.op_type == op_type || DeclaredTemplates().size() == 1) return Decode(one.parameters, key);
  }
  TemplateChoice none;
  none.wrong = "there is no ASCENDC_TPL_ARGS_DECL";
  return none;
}

// The values of one GET_TPL_TILING_KEY: integers and enumerators of any type, in braces or not.
class ChosenValues {
 public:
  struct Value {
    template <class T>
      requires(std::integral<T> || std::is_enum_v<T>)
    Value(T number) : bits(static_cast<uint64_t>(number)) {}
    uint64_t bits;
  };
  ChosenValues(std::initializer_list<Value> values) {
    for (const Value& value : values) values_.push_back(value.bits);
  }
  ChosenValues(std::vector<uint64_t> values) : values_(std::move(values)) {}
  const std::vector<uint64_t>& All() const { return values_; }

 private:
  std::vector<uint64_t> values_;
};

}  // namespace gn_twin::op_host

namespace AscendC {

// Returns the key of these values, and records the choice for the launch. If the values have no key, returns
// INVALID_TILING_KEY and logs why.
inline uint64_t EncodeTilingKey(const TilingDeclareParams& declared, const TilingSelectParams& selections,
                                const gn_twin::op_host::ChosenValues& values) {
  gn_twin::op_host::TemplateChoice choice = gn_twin::op_host::Choose(declared, selections, values.All());
  if (!choice.wrong.empty()) {
    std::string call = "GET_TPL_TILING_KEY(";
    for (uint64_t value : values.All()) call += (call.back() == '(' ? "" : ", ") + std::to_string(value);
    gn_twin::op_host::Log(gn_twin::op_host::LogLevel::kError, call + "): " + choice.wrong);
  }
  gn_twin::op_host::Choices().push_back(choice);
  return choice.key;
}

}  // namespace AscendC

#define ASCENDC_TPL_DTYPE_DECL(x, ...) ParamStruct{#x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "DECL"}
#define ASCENDC_TPL_DATATYPE_DECL(x, ...) \
  ParamStruct { #x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "DECL", true }
#define ASCENDC_TPL_FORMAT_DECL(x, ...) ParamStruct{#x, ASCENDC_TPL_FORMAT, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "DECL"}
#define ASCENDC_TPL_UINT_DECL(x, bits, ...) ParamStruct{#x, ASCENDC_TPL_UINT, bits, {__VA_ARGS__}, "DECL"}
#define ASCENDC_TPL_BOOL_DECL(x, ...) ParamStruct{#x, ASCENDC_TPL_BOOL, ASCENDC_TPL_1_BW, {__VA_ARGS__}, "DECL"}
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...) \
  ParamStruct{#x, ASCENDC_TPL_SHARED_KERNEL_TYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "DECL"}

#define ASCENDC_TPL_DTYPE_SEL(x, ...) ParamStruct{#x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "SEL"}
#define ASCENDC_TPL_DATATYPE_SEL(x, ...) \
  ParamStruct { #x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "SEL", true }
#define ASCENDC_TPL_FORMAT_SEL(x, ...) ParamStruct{#x, ASCENDC_TPL_FORMAT, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "SEL"}
#define ASCENDC_TPL_UINT_SEL(x, ...) ParamStruct{#x, ASCENDC_TPL_UINT, 0, {__VA_ARGS__}, "SEL"}
#define ASCENDC_TPL_BOOL_SEL(x, ...) ParamStruct{#x, ASCENDC_TPL_BOOL, ASCENDC_TPL_1_BW, {__VA_ARGS__}, "SEL"}
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) \
  ParamStruct{"kernel_type", ASCENDC_TPL_KERNEL_TYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "SEL"}
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) \
  ParamStruct{"deterministic", ASCENDC_TPL_DETERMINISTIC, ASCENDC_TPL_1_BW, {__VA_ARGS__}, "SEL"}
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(x, ...) \
  ParamStruct{#x, ASCENDC_TPL_SHARED_KERNEL_TYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__}, "SEL"}
#define ASCENDC_TPL_TILING_STRUCT_SEL(...) ParamStruct{#__VA_ARGS__, GNT_TPL_TILING_STRUCT, 0, {}, "SEL"}

#define ASCENDC_TPL_ARGS_DECL(op, ...)                                       \
  [[maybe_unused]] static const TilingDeclareParams& g_tilingDeclareParams = \
      gn_twin::op_host::Declare(#op, {__VA_ARGS__})
#define ASCENDC_TPL_ARGS_SEL(...) {__VA_ARGS__}
#define ASCENDC_TPL_SEL(...) \
  [[maybe_unused]] static const TilingSelectParams g_tilingSelectParams { __VA_ARGS__ }

#define GET_TPL_TILING_KEY(...) \
  AscendC::EncodeTilingKey(g_tilingDeclareParams, g_tilingSelectParams, gn_twin::op_host::ChosenValues{__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))
