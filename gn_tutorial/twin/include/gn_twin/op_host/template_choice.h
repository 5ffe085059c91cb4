// Chooses an instance of a kernel template: encodes values in a key, decodes a key into values, and writes the
// template's arguments as text.
//
// Source: docs/zh/api, Utils-API/Tiling模板编程. A key has the arguments in the order of their declaration, the first in
// the lowest bits. A dtype, a format or a kernel type takes 8 bits, a bool 1. A uint takes the declared number of bits;
// they hold the index of the value in the declared list. There is no key for values that no ASCENDC_TPL_ARGS_SEL has,
// and no key of more than 64 bits. CANN's release build does not check the values; the launch then finds no kernel.
#pragma once
#include "gn_twin/host/graph_types.h"
#include "gn_twin/op_host/template_values.h"

constexpr uint64_t INVALID_TILING_KEY = ~0ull;

namespace gn_twin::op_host {

// The template arguments that a tiling function chose, or that a key stands for.
struct TemplateChoice {
  uint64_t key = INVALID_TILING_KEY;
  std::vector<std::string> names, kinds;  // kinds: datatype, dtype, format, uint, bool, kernel_type
  std::vector<uint64_t> values;
  std::string text;           // the kernel's template arguments: "half, 8, 1"
  std::string tiling_struct;  // of ASCENDC_TPL_TILING_STRUCT_SEL; empty: the default one
  std::string kernel_type;    // of ASCENDC_TPL_KERNEL_TYPE_SEL: "MIX_AIC_1_2"; empty: CANN's compiler infers it
  bool deterministic = false;
  std::string wrong;  // the reason why there is no key; empty: the key is valid
};

inline const char* KindOf(const ParamStruct& parameter) {
  switch (parameter.paramType) {
    case ASCENDC_TPL_DTYPE: return parameter.native ? "datatype" : "dtype";
    case ASCENDC_TPL_FORMAT: return "format";
    case ASCENDC_TPL_UINT: return "uint";
    case ASCENDC_TPL_BOOL: return "bool";
    case ASCENDC_TPL_SHARED_KERNEL_TYPE: return "kernel_type";
    default: return nullptr;  // not an argument of a kernel
  }
}

inline const char* KernelTypeName(uint64_t type) {
  switch (type) {
    case ASCENDC_TPL_AIV_ONLY: return "AIV_ONLY";
    case ASCENDC_TPL_AIC_ONLY: return "AIC_ONLY";
    case ASCENDC_TPL_MIX_AIV_1_0: return "MIX_AIV_1_0";
    case ASCENDC_TPL_MIX_AIC_1_0: return "MIX_AIC_1_0";
    case ASCENDC_TPL_MIX_AIC_1_1: return "MIX_AIC_1_1";
    case ASCENDC_TPL_MIX_AIC_1_2: return "MIX_AIC_1_2";
    case ASCENDC_TPL_AICORE: return "AICORE";
    case ASCENDC_TPL_VECTORCORE: return "VECTORCORE";
    case ASCENDC_TPL_MIX_AICORE: return "MIX_AICORE";
    case ASCENDC_TPL_MIX_VECTOR_CORE: return "MIX_VECTOR_CORE";
    default: return "";
  }
}

// Returns the C++ type for a kernel's `typename` parameter; null for a number that is not a dtype of template tiling.
constexpr const char* KernelType(uint64_t dtype) {
  switch (dtype) {
    case C_DT_FLOAT: return "float";
    case C_DT_FLOAT16: return "half";
    case C_DT_INT8: return "int8_t";
    case C_DT_INT32: return "int32_t";
    case C_DT_UINT8: return "uint8_t";
    case C_DT_INT16: return "int16_t";
    case C_DT_UINT16: return "uint16_t";
    case C_DT_UINT32: return "uint32_t";
    case C_DT_INT64: return "int64_t";
    case C_DT_UINT64: return "uint64_t";
    case C_DT_DOUBLE: return "double";
    case C_DT_BOOL: return "bool";
    case C_DT_COMPLEX64: return "complex64";
    case C_DT_BF16: return "bfloat16_t";
    case C_DT_INT4: return "AscendC::int4b_t";
    case C_DT_UINT1: return "AscendC::uint1b_t";
    case C_DT_INT2: return "AscendC::int2b_t";
    case C_DT_COMPLEX32: return "complex32";
    case C_DT_HIFLOAT8: return "hifloat8_t";
    case C_DT_FLOAT8_E5M2: return "fp8_e5m2_t";
    case C_DT_FLOAT8_E4M3FN: return "fp8_e4m3fn_t";
    case C_DT_FLOAT4_E2M1: return "fp4x2_e2m1_t";
    case C_DT_FLOAT4_E1M2: return "fp4x2_e1m2_t";
    default: return nullptr;
  }
}

// The template parameters that an operator declares, each with the list of its values. The constructor checks the
// declaration. Choose and Decode use this class.
class TemplateParameters {
 public:
  explicit TemplateParameters(const TilingDeclareParams& declared) : declared_(declared) {
    if (declared.empty()) wrong_ = "there is no ASCENDC_TPL_ARGS_DECL with parameters";
    unsigned bits = 0;
    for (const ParamStruct& parameter : declared) {
      lists_.emplace_back(parameter);
      const ValueList& list = lists_.back();
      if (KindOf(parameter) == nullptr) Refuse(parameter, "this kind cannot be declared");
      if (!list.Wrong().empty()) Refuse(parameter, list.Wrong());
      if (parameter.paramType == ASCENDC_TPL_UINT && !Fits(list.Size() - 1, parameter.bitWidth)) {
        Refuse(parameter, std::to_string(list.Size()) + " values need more than " + Bits(parameter.bitWidth));
      }
      bits += parameter.bitWidth;
    }
    if (bits > 64) wrong_ = "the key would need " + Bits(bits) + ", and 64 is the most";
  }

  const std::string& Wrong() const { return wrong_; }
  const TilingDeclareParams& Declared() const { return declared_; }
  const ValueList& List(size_t which) const { return lists_[which]; }

  // Returns the index of a parameter, or Declared().size() if there is none of this name.
  size_t Find(const std::string& name) const {
    size_t at = 0;
    while (at < declared_.size() && declared_[at].name != name) ++at;
    return at;
  }

  // Adds one argument of the kernel to `choice`: its name, kind, value and text. The caller computes the key.
  void AddTo(TemplateChoice* choice, size_t which, uint64_t value) const {
    const ParamStruct& parameter = declared_[which];
    choice->names.emplace_back(parameter.name);
    choice->kinds.emplace_back(KindOf(parameter));
    choice->values.push_back(value);
    const char* type = parameter.native ? KernelType(value) : nullptr;
    if (parameter.native && type == nullptr) {
      choice->wrong =
          std::string(parameter.name) + " = " + std::to_string(value) + " is not a dtype with a kernel type";
    }
    choice->text += (choice->text.empty() ? "" : ", ") + (type != nullptr ? type : std::to_string(value));
  }

  static bool Fits(uint64_t value, unsigned bits) { return bits >= 64 || value >> bits == 0; }
  static std::string Bits(unsigned bits) { return std::to_string(bits) + (bits == 1 ? " bit" : " bits"); }

 private:
  void Refuse(const ParamStruct& parameter, const std::string& why) {
    if (wrong_.empty()) wrong_ = std::string("declaration of ") + parameter.name + ": " + why;
  }

  const TilingDeclareParams& declared_;
  std::vector<ValueList> lists_;
  std::string wrong_;
};

// Returns the mistake in one ASCENDC_TPL_ARGS_SEL; empty if there is none. Sets *has_values to false if the selection
// lacks one of `values`.
inline std::string ReadSelection(const TemplateParameters& parameters, const std::vector<ParamStruct>& selection,
                                 const std::vector<uint64_t>& values, bool* has_values) {
  std::vector<bool> seen(parameters.Declared().size());
  for (const ParamStruct& selected : selection) {
    if (selected.paramType == ASCENDC_TPL_KERNEL_TYPE || selected.paramType == ASCENDC_TPL_DETERMINISTIC ||
        selected.paramType == GNT_TPL_TILING_STRUCT) {
      continue;
    }
    const std::string where = std::string("ASCENDC_TPL_ARGS_SEL, ") + selected.name + ": ";
    const size_t which = parameters.Find(selected.name);
    if (which == seen.size()) return where + "ASCENDC_TPL_ARGS_DECL has no such parameter";
    if (selected.paramType != parameters.Declared()[which].paramType) return where + "declared as another kind";
    const ValueList list(selected);
    if (!list.Wrong().empty()) return where + list.Wrong();
    uint64_t missing = 0;
    if (!parameters.List(which).HasAll(list, &missing)) {
      return where + std::to_string(missing) + " is not among the declared values";
    }
    seen[which] = true;
    *has_values = *has_values && list.Has(values[which]) && parameters.List(which).Has(values[which]);
  }
  for (size_t which = 0; which < seen.size(); ++which) {
    if (!seen[which]) return std::string("an ASCENDC_TPL_ARGS_SEL leaves out ") + parameters.Declared()[which].name;
  }
  return "";
}

// Encodes values: returns the choice with their key, or with the reason in `wrong` why there is no key.
inline TemplateChoice Choose(const TilingDeclareParams& declared, const TilingSelectParams& selections,
                             const std::vector<uint64_t>& values) {
  TemplateChoice choice;
  const TemplateParameters parameters(declared);
  choice.wrong = parameters.Wrong();
  if (choice.wrong.empty() && selections.empty()) choice.wrong = "there is no ASCENDC_TPL_SEL with selections";
  if (choice.wrong.empty() && values.size() != declared.size()) {
    choice.wrong = std::to_string(values.size()) + " values for " + std::to_string(declared.size()) + " parameters";
  }
  const std::vector<ParamStruct>* chosen = nullptr;
  for (const std::vector<ParamStruct>& selection : selections) {
    if (!choice.wrong.empty()) return choice;
    bool has_values = true;
    choice.wrong = ReadSelection(parameters, selection, values, &has_values);
    if (has_values && chosen == nullptr) chosen = &selection;
  }
  if (!choice.wrong.empty()) return choice;

  uint64_t key = 0;
  unsigned at = 0;
  for (size_t which = 0; which < declared.size(); ++which) {
    const ParamStruct& parameter = declared[which];
    parameters.AddTo(&choice, which, values[which]);
    const bool by_place = parameter.paramType == ASCENDC_TPL_UINT;
    const uint64_t field = by_place ? parameters.List(which).IndexOf(values[which]) : values[which];
    if (chosen != nullptr && !parameters.Fits(field, parameter.bitWidth)) {
      choice.wrong = std::string(parameter.name) + " = " + std::to_string(field) + " needs more than " +
                     parameters.Bits(parameter.bitWidth);
    }
    if (at < 64) key |= field << at;
    at += parameter.bitWidth;
  }
  if (chosen == nullptr) choice.wrong = "no ASCENDC_TPL_ARGS_SEL has these values together";
  if (!choice.wrong.empty()) return choice;
  choice.key = key;
  for (const ParamStruct& extra : *chosen) {
    if (extra.paramType == GNT_TPL_TILING_STRUCT) choice.tiling_struct = extra.name;
    if (extra.vals.empty()) continue;
    if (extra.paramType == ASCENDC_TPL_KERNEL_TYPE) choice.kernel_type = KernelTypeName(extra.vals[0]);
    if (extra.paramType == ASCENDC_TPL_DETERMINISTIC) choice.deterministic = extra.vals[0] != 0;
  }
  return choice;
}

// Decodes a key: returns the choice with its values. If the key matches no declared values, `wrong` says why.
inline TemplateChoice Decode(const TilingDeclareParams& declared, uint64_t key) {
  TemplateChoice choice;
  const TemplateParameters parameters(declared);
  choice.wrong = parameters.Wrong();
  uint64_t rest = key;
  for (size_t which = 0; which < declared.size() && choice.wrong.empty(); ++which) {
    const ParamStruct& parameter = declared[which];
    const uint64_t field = parameter.bitWidth >= 64 ? rest : rest & ((1ull << parameter.bitWidth) - 1);
    rest = parameter.bitWidth >= 64 ? 0 : rest >> parameter.bitWidth;
    const ValueList& list = parameters.List(which);
    const bool by_place = parameter.paramType == ASCENDC_TPL_UINT;
    if (by_place ? field >= list.Size() : !list.Has(field)) {
      choice.wrong =
          std::string("the key has ") + std::to_string(field) + " for " + parameter.name + ", which has no such value";
    } else {
      parameters.AddTo(&choice, which, by_place ? list.At(field) : field);
    }
  }
  if (choice.wrong.empty() && rest != 0) choice.wrong = "the key has more bits than the parameters";
  if (choice.wrong.empty()) choice.key = key;
  return choice;
}

}  // namespace gn_twin::op_host
