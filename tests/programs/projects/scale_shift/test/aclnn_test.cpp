// Calls aclnnScaleShift with input.bin and writes output.bin.
#include <cstdio>
#include <fstream>
#include <vector>

#include "acl/acl.h"
#include "aclnn_scale_shift.h"
#include "case_config.h"

#define CHECK(call)                                                   \
  do {                                                                \
    const int status = static_cast<int>(call);                        \
    if (status != 0) {                                                \
      printf("%s returned %d at line %d\n", #call, status, __LINE__); \
      return 1;                                                       \
    }                                                                 \
  } while (0)

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  size_t bytes = CASE_BYTES;
  for (int64_t length : CASE_SHAPE) bytes *= static_cast<size_t>(length);
  std::vector<char> host(bytes);
  std::ifstream input(folder + "/input.bin", std::ios::binary);
  if (!input.read(host.data(), static_cast<std::streamsize>(bytes))) return 2;

  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  void* device[2] = {};
  aclTensor* tensors[2] = {};
  for (int i = 0; i < 2; ++i) {
    CHECK(aclrtMalloc(&device[i], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    tensors[i] = aclCreateTensor(CASE_SHAPE.data(), CASE_SHAPE.size(), CASE_DTYPE, nullptr, 0, ACL_FORMAT_ND,
                                 CASE_SHAPE.data(), CASE_SHAPE.size(), device[i]);
  }
  CHECK(aclrtMemcpy(device[0], bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));

  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  void* workspace = nullptr;
  CHECK(aclnnScaleShiftGetWorkspaceSize(tensors[0], 2.0, 0.5, tensors[1], &workspaceSize, &executor));
  if (workspaceSize > 0) CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclnnScaleShift(workspace, workspaceSize, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtMemcpy(host.data(), bytes, device[1], bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  std::ofstream output(folder + "/output.bin", std::ios::binary);
  output.write(host.data(), static_cast<std::streamsize>(bytes));
  for (int i = 0; i < 2; ++i) {
    CHECK(aclDestroyTensor(tensors[i]));
    CHECK(aclrtFree(device[i]));
  }
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
