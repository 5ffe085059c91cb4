// The pointer types of an operator's host functions, which a project writes and the framework calls.
//
// Source: docs/zh/api, Utils-API/原型注册与管理 (OpDef, OpAICoreDef) and docs/api/OpImplRegisterV2.md of metadef.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string>

#include "gn_twin/host/graph_types.h"

namespace gert {
class TilingContext;
class TilingParseContext;
class KernelContext;
class InferShapeContext;
class InferShapeRangeContext;
class InferDataTypeContext;
}  // namespace gert

namespace ge {

// Only the graph engine can make an Operator. The twin registers functions that take an Operator, but never calls them.
class Operator;

class AscendString {
 public:
  AscendString() = default;
  AscendString(const char* text) : text_(text == nullptr ? "" : text) {}
  AscendString(const char* text, size_t length) : text_(text, length) {}
  const char* GetString() const { return text_.c_str(); }
  size_t GetLength() const { return text_.size(); }
  size_t Find(const AscendString& part) const { return text_.find(part.text_); }
  bool operator<(const AscendString& other) const { return text_ < other.text_; }
  bool operator>(const AscendString& other) const { return text_ > other.text_; }
  bool operator<=(const AscendString& other) const { return text_ <= other.text_; }
  bool operator>=(const AscendString& other) const { return text_ >= other.text_; }
  bool operator==(const AscendString& other) const { return text_ == other.text_; }
  bool operator!=(const AscendString& other) const { return text_ != other.text_; }

 private:
  std::string text_;
};

}  // namespace ge

namespace gn_twin {

using TilingFunction = uint32_t (*)(gert::TilingContext*);
using InferShapeFunction = uint32_t (*)(gert::InferShapeContext*);
using InferShapeRangeFunction = uint32_t (*)(gert::InferShapeRangeContext*);
using InferDataTypeFunction = uint32_t (*)(gert::InferDataTypeContext*);
using TilingParseFunction = uint32_t (*)(gert::TilingParseContext*);
using CheckFunction = ge::graphStatus (*)(const ge::Operator&, ge::AscendString&);
using GeneralizeFunction = ge::graphStatus (*)(const ge::Operator&, const ge::AscendString&, ge::AscendString&);

}  // namespace gn_twin

namespace optiling {
using OP_CHECK_FUNC = gn_twin::CheckFunction;
using PARAM_GENERALIZE_FUNC = gn_twin::GeneralizeFunction;
}  // namespace optiling
