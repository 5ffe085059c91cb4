// Calls aclnnRowSplit with a list of two outputs, once with the ends and once without them, and compares on the host.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnn_row_split.h"

#define CHECK(call)                                                   \
  do {                                                                \
    const int status = static_cast<int>(call);                        \
    if (status != 0) {                                                \
      printf("%s returned %d at line %d\n", #call, status, __LINE__); \
      return 1;                                                       \
    }                                                                 \
  } while (0)

namespace {
constexpr int64_t kFirst = 37, kSecond = 64;

aclTensor* OnDevice(int64_t length, aclDataType type, void** device) {
  if (aclrtMalloc(device, length * 4, ACL_MEM_MALLOC_HUGE_FIRST) != 0) return nullptr;
  return aclCreateTensor(&length, 1, type, nullptr, 0, ACL_FORMAT_ND, &length, 1, *device);
}

int Run(aclrtStream stream, bool wantsEnds) {
  std::vector<float> x(kFirst + kSecond), first(kFirst), second(kSecond);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.25f * static_cast<float>(i) - 7.0f;
  void* device[4] = {};
  aclTensor* input = OnDevice(x.size(), ACL_FLOAT, &device[0]);
  aclTensor* parts[2] = {OnDevice(kFirst, ACL_FLOAT, &device[1]), OnDevice(kSecond, ACL_FLOAT, &device[2])};
  aclTensor* ends = wantsEnds ? OnDevice(2, ACL_INT32, &device[3]) : nullptr;
  CHECK(aclrtMemcpy(device[0], x.size() * 4, x.data(), x.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE));
  aclTensorList* list = aclCreateTensorList(parts, 2);
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnRowSplitGetWorkspaceSize(input, list, ends, &workspaceSize, &executor));
  CHECK(aclnnRowSplit(nullptr, workspaceSize, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtMemcpy(first.data(), kFirst * 4, device[1], kFirst * 4, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(aclrtMemcpy(second.data(), kSecond * 4, device[2], kSecond * 4, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < x.size(); ++i) {
    const float found = i < first.size() ? first[i] : second[i - first.size()];
    if (found != 2 * x[i]) return printf("element %zu is %f\n", i, found), 1;
  }
  if (wantsEnds) {
    int32_t found[2] = {};
    CHECK(aclrtMemcpy(found, sizeof(found), device[3], sizeof(found), ACL_MEMCPY_DEVICE_TO_HOST));
    if (found[0] != kFirst || found[1] != kFirst + kSecond) return printf("ends are %d, %d\n", found[0], found[1]), 1;
    aclDestroyTensor(ends);
  }
  aclDestroyTensorList(list);
  aclDestroyTensor(input);
  for (void* one : device) {
    if (one != nullptr) aclrtFree(one);
  }
  return 0;
}
}  // namespace

int main() {
  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  const int status = Run(stream, true) + Run(stream, false);
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclFinalize());
  printf(status == 0 ? "test pass\n" : "test failed\n");
  return status;
}
