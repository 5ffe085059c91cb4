// The definition of an operator, as a project writes it: a class derived from OpDef whose constructor lists inputs,
// outputs, attributes, functions and chips.
//
// Source: docs/zh/api, Utils-API/原型注册与管理/OpDef.
#pragma once
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gn_twin/op_host/op_attr.h"
#include "gn_twin/op_host/op_chips.h"

namespace ops {

enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1 };
enum class CommentSection : uint32_t {
  BRIEF = 0,
  CONSTRAINTS,
  RESTRICTIONS,
  SEE,
  THIRDPARTYFWKCOMPAT,
  CATEGORY,
  SECTION_MAX
};

class OpDef {
 public:
  explicit OpDef(const char* type) : type_(type) {}
  OpDef(const OpDef&) = default;
  OpDef& operator=(const OpDef&) = default;
  virtual ~OpDef() = default;

  OpParamDef& Input(const char* name) { return GntFindOrAdd(inputs_, name); }
  OpParamDef& Output(const char* name) { return GntFindOrAdd(outputs_, name); }
  OpAttrDef& Attr(const char* name) {
    for (OpAttrDef& attr : attrs_) {
      if (attr.GetName() == name) return attr;
    }
    return attrs_.emplace_back(name);
  }
  OpDef& SetInferShape(gn_twin::InferShapeFunction function) { return infer_shape_ = function, *this; }
  OpDef& SetInferShapeRange(gn_twin::InferShapeRangeFunction function) { return infer_range_ = function, *this; }
  OpDef& SetInferDataType(gn_twin::InferDataTypeFunction function) { return infer_data_type_ = function, *this; }
  OpAICoreDef& AICore() { return ai_core_; }
  OpAICPUDef& AICPU() { return ai_cpu_; }
  OpHostCPUDef& HostCPU() { return host_cpu_; }
  OpMC2Def& MC2() { return mc2_; }
  OpDef& EnableFallBack() { return fallback_ = true, *this; }
  OpDef& FormatMatchMode(FormatCheckOption option) { return format_check_ = option, *this; }
  OpDef& Comment(CommentSection section, const char* comment) {
    return comments_.emplace_back(section, comment), *this;
  }

  const std::string& GntType() const { return type_; }
  const GntParams& GntInputs() const { return inputs_; }
  const GntParams& GntOutputs() const { return outputs_; }
  // Returns the parameters for a chip. The chip's configuration overrides some of them. Parameters that exist only in
  // the configuration are appended.
  GntParams GntInputs(const OpAICoreConfig& chip) const { return Merged(inputs_, chip.GntInputs()); }
  GntParams GntOutputs(const OpAICoreConfig& chip) const { return Merged(outputs_, chip.GntOutputs()); }
  const std::deque<OpAttrDef>& GntAttrs() const { return attrs_; }
  const OpAICoreDef& GntAICore() const { return ai_core_; }
  const OpAICPUDef& GntAICPU() const { return ai_cpu_; }
  const OpHostCPUDef& GntHostCPU() const { return host_cpu_; }
  const OpMC2Def& GntMC2() const { return mc2_; }
  gn_twin::InferShapeFunction GntInferShape() const { return infer_shape_; }
  gn_twin::InferShapeRangeFunction GntInferShapeRange() const { return infer_range_; }
  gn_twin::InferDataTypeFunction GntInferDataType() const { return infer_data_type_; }
  bool GntFallsBack() const { return fallback_; }
  FormatCheckOption GntFormatCheck() const { return format_check_; }
  const std::vector<std::pair<CommentSection, std::string>>& GntComments() const { return comments_; }

 private:
  static GntParams Merged(GntParams params, const GntParams& chip) {
    for (const OpParamDef& changed : chip) {
      bool known = false;
      for (OpParamDef& param : params) {
        if (param.GntGet().name != changed.GntGet().name) continue;
        param.GntOverride(changed);
        known = true;
      }
      if (!known) params.push_back(changed);
    }
    return params;
  }

  std::string type_;
  GntParams inputs_, outputs_;
  std::deque<OpAttrDef> attrs_;
  OpAICoreDef ai_core_;
  OpAICPUDef ai_cpu_;
  OpHostCPUDef host_cpu_;
  OpMC2Def mc2_;
  gn_twin::InferShapeFunction infer_shape_ = nullptr;
  gn_twin::InferShapeRangeFunction infer_range_ = nullptr;
  gn_twin::InferDataTypeFunction infer_data_type_ = nullptr;
  bool fallback_ = false;
  FormatCheckOption format_check_ = FormatCheckOption::DEFAULT;
  std::vector<std::pair<CommentSection, std::string>> comments_;
};

}  // namespace ops
