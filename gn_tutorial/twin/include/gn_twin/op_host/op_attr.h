// An attribute in the definition of an operator: its type, and its default value.
//
// Source: docs/zh/api, Utils-API/原型注册与管理/OpAttrDef.
#pragma once
#include <stdint.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gn_twin/op_host/host_functions.h"
#include "gn_twin/op_host/op_param.h"

namespace ops {

// The types of attributes, in the order of GntAttrValue's alternatives.
enum class GntAttrType { NONE, BOOL, FLOAT, INT, STRING, LIST_BOOL, LIST_FLOAT, LIST_INT, LIST_LIST_INT };
using GntAttrValue = std::variant<std::monostate, bool, float, int64_t, std::string, std::vector<bool>,
                                  std::vector<float>, std::vector<int64_t>, std::vector<std::vector<int64_t>>>;

class OpAttrDef {
 public:
  explicit OpAttrDef(const char* name) : name_(name) {}
  OpAttrDef(const OpAttrDef&) = default;
  OpAttrDef& operator=(const OpAttrDef&) = default;

  OpAttrDef& AttrType(Option type) { return required_ = type == REQUIRED, *this; }
  OpAttrDef& Bool() { return Is(GntAttrType::BOOL); }
  OpAttrDef& Bool(bool value) { return Is(GntAttrType::BOOL, value); }
  OpAttrDef& Float() { return Is(GntAttrType::FLOAT); }
  OpAttrDef& Float(float value) { return Is(GntAttrType::FLOAT, value); }
  OpAttrDef& Int() { return Is(GntAttrType::INT); }
  OpAttrDef& Int(int64_t value) { return Is(GntAttrType::INT, value); }
  OpAttrDef& String() { return Is(GntAttrType::STRING); }
  OpAttrDef& String(const char* value) { return Is(GntAttrType::STRING, std::string(value)); }
  OpAttrDef& ListBool() { return Is(GntAttrType::LIST_BOOL); }
  OpAttrDef& ListBool(std::vector<bool> values) { return Is(GntAttrType::LIST_BOOL, std::move(values)); }
  OpAttrDef& ListFloat() { return Is(GntAttrType::LIST_FLOAT); }
  OpAttrDef& ListFloat(std::vector<float> values) { return Is(GntAttrType::LIST_FLOAT, std::move(values)); }
  OpAttrDef& ListInt() { return Is(GntAttrType::LIST_INT); }
  OpAttrDef& ListInt(std::vector<int64_t> values) { return Is(GntAttrType::LIST_INT, std::move(values)); }
  OpAttrDef& ListListInt() { return Is(GntAttrType::LIST_LIST_INT); }
  OpAttrDef& ListListInt(std::vector<std::vector<int64_t>> values) {
    return Is(GntAttrType::LIST_LIST_INT, std::move(values));
  }
  OpAttrDef& Version(uint32_t version) { return version_ = version, *this; }
  OpAttrDef& Comment(const char* comment) { return comment_ = comment, *this; }
  ge::AscendString& GetName() const { return name_; }
  bool IsRequired() { return required_; }

  bool GntRequired() const { return required_; }
  GntAttrType GntType() const { return type_; }
  // Returns std::monostate if the definition gives no value.
  const GntAttrValue& GntDefault() const { return value_; }
  uint32_t GntVersion() const { return version_; }
  const std::string& GntComment() const { return comment_; }

 private:
  OpAttrDef& Is(GntAttrType type, GntAttrValue value = {}) {
    type_ = type;
    value_ = std::move(value);
    return *this;
  }

  mutable ge::AscendString name_;  // the documented getter of a constant definition returns a mutable reference
  bool required_ = true;
  GntAttrType type_ = GntAttrType::NONE;
  GntAttrValue value_;
  uint32_t version_ = 0;
  std::string comment_;
};

}  // namespace ops
