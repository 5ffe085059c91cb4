// Types and shapes of one operator's arguments.
#include "operator_desc.h"

OperatorDesc::~OperatorDesc() {
  for (aclTensorDesc* one : inputs) aclDestroyTensorDesc(one);
  for (aclTensorDesc* one : outputs) aclDestroyTensorDesc(one);
}
void OperatorDesc::AddInput(aclDataType type, const std::vector<int64_t>& shape) {
  inputs.push_back(aclCreateTensorDesc(type, static_cast<int>(shape.size()), shape.data(), ACL_FORMAT_ND));
}
void OperatorDesc::AddOutput(aclDataType type, const std::vector<int64_t>& shape) {
  outputs.push_back(aclCreateTensorDesc(type, static_cast<int>(shape.size()), shape.data(), ACL_FORMAT_ND));
}
