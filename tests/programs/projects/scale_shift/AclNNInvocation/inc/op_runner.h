// Memory for an operator's arguments on host and device, and its call.
#pragma once
#include <string>
#include <vector>

#include "acl/acl.h"
#include "operator_desc.h"

class OpRunner {
 public:
  explicit OpRunner(OperatorDesc& desc) : desc_(desc) {}
  ~OpRunner();
  bool Init();
  bool Run(double scale, double shift);
  bool ReadInput(size_t index, const std::string& file);
  bool WriteOutput(size_t index, const std::string& file);

 private:
  struct Argument {
    aclDataBuffer* buffer;
    void* host;
    aclTensor* tensor;
  };
  bool Add(aclTensorDesc* desc, std::vector<Argument>& to);

  OperatorDesc& desc_;
  std::vector<Argument> inputs_;
  std::vector<Argument> outputs_;
};
