// Calls GnTutorialGroupNormBackward through aclnn, as a program of a user does: the first call asks for the workspace, the second one launches.
// What is called, gen_data.py wrote: case.txt (arrays and attributes), <name>.bin for each input. <name>_out.bin is the answer.
// Not run on an NPU here.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "acl/acl.h"
#include "aclnn_gn_tutorial_group_norm_backward.h"

namespace {

void Require(bool good, const char* what, int status = 0) {
  if (good) return;
  std::printf("%s failed, status %d\n", what, status);
  std::exit(1);
}

#define REQUIRE_SUCCESS(call)                  \
  do {                                         \
    const int status = static_cast<int>(call); \
    Require(status == 0, #call, status);       \
  } while (0)

struct Array {
  int type;
  size_t bytes;
  std::vector<int64_t> shape;
};

// case.txt: "array <name> <type, as acl numbers it> <bytes> <axes...>" and "attr <name> <values...>", a line each.
struct Case {
  std::map<std::string, Array> arrays;
  std::map<std::string, std::vector<std::string>> attributes;

  Case() {
    std::ifstream file("case.txt");
    Require(file.good(), "opening case.txt (gen_data.py writes it)");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string kind, name;
      words >> kind >> name;
      if (kind == "array") {
        Array array{};
        words >> array.type >> array.bytes;
        for (int64_t axis; words >> axis;) array.shape.push_back(axis);
        arrays[name] = array;
      } else {
        attributes[name] = {std::istream_iterator<std::string>(words), {}};
      }
    }
  }

  const std::vector<std::string>& Values(const char* name) const {
    const auto found = attributes.find(name);
    Require(found != attributes.end(), name);
    return found->second;
  }

  // Flags are asked for as char: a vector of bool has no pointer to them.
  template <class T>
  std::vector<T> Numbers(const char* name) const {
    std::vector<T> found;
    for (const std::string& one : Values(name)) {
      if constexpr (std::is_floating_point_v<T>) {
        found.push_back(static_cast<T>(std::stod(one)));
      } else {
        found.push_back(static_cast<T>(std::stoll(one)));
      }
    }
    return found;
  }
};

// An array on the device; one that case.txt does not name is absent, a null pointer to aclnn.
class Tensor {
 public:
  Tensor(const Case& what, const std::string& name, bool input) : name_(name) {
    const auto found = what.arrays.find(name);
    if (found == what.arrays.end()) return;
    array_ = found->second;
    REQUIRE_SUCCESS(aclrtMalloc(&device_, array_.bytes > 0 ? array_.bytes : 32, ACL_MEM_MALLOC_HUGE_FIRST));
    if (input) {
      std::ifstream file(name + ".bin", std::ios::binary);
      const std::vector<char> data{std::istreambuf_iterator<char>(file), {}};
      Require(data.size() == array_.bytes, (name + ".bin has another size than case.txt says").c_str());
      if (!data.empty())
        REQUIRE_SUCCESS(aclrtMemcpy(device_, data.size(), data.data(), data.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    const std::vector<int64_t>& shape = array_.shape;
    tensor_ = aclCreateTensor(shape.data(), shape.size(), static_cast<aclDataType>(array_.type), nullptr, 0,
                              ACL_FORMAT_ND, shape.data(), shape.size(), device_);
    Require(tensor_ != nullptr, "aclCreateTensor");
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() {
    if (tensor_ != nullptr) aclDestroyTensor(tensor_);
    if (device_ != nullptr) aclrtFree(device_);
  }

  aclTensor* get() const { return tensor_; }

  void Write() const {
    if (tensor_ == nullptr) return;
    std::vector<char> data(array_.bytes);
    if (!data.empty())
      REQUIRE_SUCCESS(aclrtMemcpy(data.data(), data.size(), device_, data.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    std::ofstream(name_ + "_out.bin", std::ios::binary).write(data.data(), static_cast<std::streamsize>(data.size()));
  }

 private:
  std::string name_;
  Array array_{};
  void* device_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

void Call(const Case& what, aclrtStream stream) {
  const Tensor dy(what, "dy", true);
  const Tensor x(what, "x", true);
  const Tensor mean(what, "mean", true);
  const Tensor rstd(what, "rstd", true);
  const Tensor gamma(what, "gamma", true);
  const int64_t numGroups = std::stoll(what.Values("num_groups").front());
  const std::vector<char> outputMaskValues = what.Numbers<char>("output_mask");
  const auto* outputMaskData = reinterpret_cast<const bool*>(outputMaskValues.data());
  aclBoolArray* outputMask = aclCreateBoolArray(outputMaskData, outputMaskValues.size());
  const Tensor dx(what, "dx", false);
  const Tensor dgamma(what, "dgamma", false);
  const Tensor dbeta(what, "dbeta", false);

  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE_SUCCESS(aclnnGnTutorialGroupNormBackwardGetWorkspaceSize(dy.get(), x.get(), mean.get(), rstd.get(),
                                                                   gamma.get(), numGroups, outputMask, dx.get(),
                                                                   dgamma.get(), dbeta.get(), &size, &executor));
  void* workspace = nullptr;
  if (size > 0) REQUIRE_SUCCESS(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  REQUIRE_SUCCESS(aclnnGnTutorialGroupNormBackward(workspace, size, executor, stream));
  REQUIRE_SUCCESS(aclrtSynchronizeStream(stream));
  dx.Write();
  dgamma.Write();
  dbeta.Write();
  if (workspace != nullptr) REQUIRE_SUCCESS(aclrtFree(workspace));
  aclDestroyBoolArray(outputMask);
}

}  // namespace

int main() {
  REQUIRE_SUCCESS(aclInit(nullptr));
  REQUIRE_SUCCESS(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  REQUIRE_SUCCESS(aclrtCreateStream(&stream));
  Call(Case(), stream);
  REQUIRE_SUCCESS(aclrtDestroyStream(stream));
  REQUIRE_SUCCESS(aclrtResetDevice(0));
  REQUIRE_SUCCESS(aclFinalize());
  std::printf("GnTutorialGroupNormBackward: done\n");
  return 0;
}
