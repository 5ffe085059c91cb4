// Memory for an operator's arguments on host and device, and its call.
#include "op_runner.h"

#include <cstdio>
#include <fstream>

#include "acl/acl_op_compiler.h"
#include "aclnn_scale_shift.h"

OpRunner::~OpRunner() {
  for (std::vector<Argument>* group : {&inputs_, &outputs_}) {
    for (Argument& one : *group) {
      aclDestroyTensor(one.tensor);
      aclrtFree(aclGetDataBufferAddr(one.buffer));
      aclDestroyDataBuffer(one.buffer);
      aclrtFreeHost(one.host);
    }
  }
}
bool OpRunner::Init() {
  for (aclTensorDesc* one : desc_.inputs) {
    if (!Add(one, inputs_)) return false;
  }
  for (aclTensorDesc* one : desc_.outputs) {
    if (!Add(one, outputs_)) return false;
  }
  return true;
}
bool OpRunner::Add(aclTensorDesc* desc, std::vector<Argument>& to) {
  const size_t bytes = aclGetTensorDescSize(desc);
  void* device = nullptr;
  void* host = nullptr;
  if (aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS) return false;
  if (aclrtMallocHost(&host, bytes) != ACL_SUCCESS) return false;
  std::vector<int64_t> shape(aclGetTensorDescNumDims(desc));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (aclGetTensorDescDimV2(desc, i, &shape[i]) != ACL_SUCCESS) return false;
  }
  aclTensor* tensor = aclCreateTensor(shape.data(), shape.size(), aclGetTensorDescType(desc), nullptr, 0,
                                      aclGetTensorDescFormat(desc), shape.data(), shape.size(), device);
  to.push_back({aclCreateDataBuffer(device, bytes), host, tensor});
  return tensor != nullptr;
}
bool OpRunner::ReadInput(size_t index, const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  const Argument& one = inputs_.at(index);
  return static_cast<bool>(input.read(static_cast<char*>(one.host), aclGetDataBufferSizeV2(one.buffer)));
}
bool OpRunner::WriteOutput(size_t index, const std::string& file) {
  std::ofstream output(file, std::ios::binary);
  const Argument& one = outputs_.at(index);
  return static_cast<bool>(output.write(static_cast<char*>(one.host), aclGetDataBufferSizeV2(one.buffer)));
}
bool OpRunner::Run(double scale, double shift) {
  for (Argument& one : inputs_) {
    const size_t bytes = aclGetDataBufferSizeV2(one.buffer);
    if (aclrtMemcpy(aclGetDataBufferAddr(one.buffer), bytes, one.host, bytes, ACL_MEMCPY_HOST_TO_DEVICE) !=
        ACL_SUCCESS) {
      return false;
    }
  }
  aclrtStream stream = nullptr;
  if (aclrtCreateStream(&stream) != ACL_SUCCESS) return false;
  size_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  auto ret =
      aclnnScaleShiftGetWorkspaceSize(inputs_[0].tensor, scale, shift, outputs_[0].tensor, &workspaceSize, &executor);
  if (ret != ACL_SUCCESS) {
    fprintf(stderr, "[ERROR] the first call returned %d\n", static_cast<int>(ret));
    return false;
  }
  void* workspace = nullptr;
  if (workspaceSize != 0 && aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS)
    return false;
  // The address of the pointer, not the pointer: as old samples have it, and harmless where the size is 0.
  ret = aclnnScaleShift(&workspace, workspaceSize, executor, stream);
  if (ret != ACL_SUCCESS) {
    fprintf(stderr, "[ERROR] the second call returned %d\n", static_cast<int>(ret));
    return false;
  }
  if (aclrtSynchronizeStreamWithTimeout(stream, 5000) != ACL_SUCCESS) return false;
  aclrtDestroyStream(stream);
  for (Argument& one : outputs_) {
    const size_t bytes = aclGetDataBufferSizeV2(one.buffer);
    if (aclrtMemcpy(one.host, bytes, aclGetDataBufferAddr(one.buffer), bytes, ACL_MEMCPY_DEVICE_TO_HOST) !=
        ACL_SUCCESS) {
      return false;
    }
  }
  return true;
}
