// An input or an output in the definition of an operator: the types and layouts that it may have, and how callers pass
// it.
//
// Source: docs/zh/api, Utils-API/原型注册与管理/OpParamDef.
#pragma once
#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "gn_twin/host/graph_types.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };

enum class ScalarType : uint32_t {
  UINT64 = 0,
  INT64 = 1,
  UINT32 = 2,
  INT32 = 3,
  UINT16 = 4,
  INT16 = 5,
  UINT8 = 6,
  INT8 = 7,
  FLOAT32 = 8,
  FLOAT16 = 9,
  INVALID_DTYPE = static_cast<uint32_t>(-1),
};
union ScalarNum {
  uint64_t value_u64;
  int64_t value_i64;
  float value_f32;
  ScalarNum() : value_u64(0) {}
  explicit ScalarNum(uint64_t value) : value_u64(value) {}
  explicit ScalarNum(int64_t value) : value_i64(value) {}
  explicit ScalarNum(float value) : value_f32(value) {}
};
struct ScalarVar {
  ScalarType scalar_type = ScalarType::INVALID_DTYPE;
  ScalarNum scalar_num;
  ScalarVar() = default;
  ScalarVar(ScalarType type, uint64_t number) : scalar_type(type), scalar_num(number) {}
  ScalarVar(ScalarType type, int64_t number) : scalar_type(type), scalar_num(number) {}
  ScalarVar(ScalarType type, int number) : scalar_type(type), scalar_num(static_cast<int64_t>(number)) {}
  ScalarVar(ScalarType type, unsigned int number) : scalar_type(type), scalar_num(static_cast<uint64_t>(number)) {}
  ScalarVar(ScalarType type, float number) : scalar_type(type), scalar_num(number) {}
  ScalarVar(ScalarType type, double number) : scalar_type(type), scalar_num(static_cast<float>(number)) {}
  bool operator==(const ScalarVar& other) const {
    return scalar_type == other.scalar_type && scalar_num.value_u64 == other.scalar_num.value_u64;
  }
};

// The values that the calls of OpParamDef set. An empty list means that no call set it.
struct GntParam {
  explicit GntParam(std::string its_name) : name(std::move(its_name)) {}

  std::string name;
  Option type = REQUIRED;
  std::vector<ge::DataType> types, every_type, query_types;
  std::vector<ge::Format> formats, every_format, query_formats, unknown_shape_formats;
  Option value_depend = IGNORE;
  DependScope depend_scope = DependScope::ALL;
  bool scalar = false, scalar_list = false;
  ge::DataType to_type = ge::DT_UNDEFINED;
  std::string to_input;
  std::string follow;
  FollowType follow_type = FollowType::ALL;
  bool auto_contiguous = false, ignore_contiguous = false;
  bool shape_depends_on_compute = false;
  uint32_t version = 0;
  bool zeroed = false;
  std::vector<ScalarVar> initial;
  std::string comment;

  // Takes over the parameter type of a chip's entry, and the other properties that the entry sets, except To, Version
  // and Comment. All other properties stay.
  void Override(const GntParam& chip) {
    type = chip.type;
    if (!chip.types.empty() || !chip.every_type.empty()) types = chip.types, every_type = chip.every_type;
    if (!chip.formats.empty() || !chip.every_format.empty()) formats = chip.formats, every_format = chip.every_format;
    if (!chip.query_types.empty()) query_types = chip.query_types;
    if (!chip.query_formats.empty()) query_formats = chip.query_formats;
    if (!chip.unknown_shape_formats.empty()) unknown_shape_formats = chip.unknown_shape_formats;
    if (chip.value_depend != IGNORE) value_depend = chip.value_depend, depend_scope = chip.depend_scope;
    if (!chip.follow.empty()) follow = chip.follow, follow_type = chip.follow_type;
    if (chip.zeroed || !chip.initial.empty()) zeroed = chip.zeroed, initial = chip.initial;
    scalar |= chip.scalar, scalar_list |= chip.scalar_list;
    auto_contiguous |= chip.auto_contiguous, ignore_contiguous |= chip.ignore_contiguous;
    shape_depends_on_compute |= chip.shape_depends_on_compute;
  }
};

class OpParamDef {
 public:
  explicit OpParamDef(const char* name) : param_(name) {}
  OpParamDef(const OpParamDef&) = default;
  OpParamDef& operator=(const OpParamDef&) = default;

  OpParamDef& ParamType(Option type) { return param_.type = type, *this; }
  OpParamDef& DataType(std::vector<ge::DataType> types) { return param_.types = std::move(types), *this; }
  OpParamDef& DataTypeList(std::vector<ge::DataType> types) { return param_.every_type = std::move(types), *this; }
  OpParamDef& DataTypeForBinQuery(std::vector<ge::DataType> types) {
    return param_.query_types = std::move(types), *this;
  }
  OpParamDef& Format(std::vector<ge::Format> formats) { return param_.formats = std::move(formats), *this; }
  OpParamDef& FormatList(std::vector<ge::Format> formats) { return param_.every_format = std::move(formats), *this; }
  OpParamDef& FormatForBinQuery(std::vector<ge::Format> formats) {
    return param_.query_formats = std::move(formats), *this;
  }
  OpParamDef& UnknownShapeFormat(std::vector<ge::Format> formats) {
    return param_.unknown_shape_formats = std::move(formats), *this;
  }
  OpParamDef& ValueDepend(Option depend) { return ValueDepend(depend, DependScope::ALL); }
  OpParamDef& ValueDepend(Option depend, DependScope scope) {
    param_.value_depend = depend;
    param_.depend_scope = scope;
    return *this;
  }
  OpParamDef& IgnoreContiguous() { return param_.ignore_contiguous = true, *this; }
  OpParamDef& AutoContiguous() { return param_.auto_contiguous = true, *this; }
  OpParamDef& Scalar() { return param_.scalar = true, *this; }
  OpParamDef& ScalarList() { return param_.scalar_list = true, *this; }
  OpParamDef& To(const ge::DataType type) { return param_.to_type = type, *this; }
  OpParamDef& To(const char* input) { return param_.to_input = input, *this; }
  OpParamDef& Version(uint32_t version) { return param_.version = version, *this; }
  // Asks for zeros, whatever the argument is.
  OpParamDef& InitValue(uint64_t) { return param_.zeroed = true, *this; }
  OpParamDef& InitValue(const ScalarVar& value) { return param_.initial = {value}, *this; }
  OpParamDef& InitValue(const std::vector<ScalarVar>& values) { return param_.initial = values, *this; }
  OpParamDef& OutputShapeDependOnCompute() { return param_.shape_depends_on_compute = true, *this; }
  OpParamDef& Follow(const char* input) { return Follow(input, FollowType::ALL); }
  OpParamDef& Follow(const char* input, FollowType type) {
    param_.follow = input;
    param_.follow_type = type;
    return *this;
  }
  OpParamDef& Comment(const char* comment) { return param_.comment = comment, *this; }

  const GntParam& GntGet() const { return param_; }
  void GntOverride(const OpParamDef& chip) { param_.Override(chip.param_); }

 private:
  GntParam param_;
};

}  // namespace ops
