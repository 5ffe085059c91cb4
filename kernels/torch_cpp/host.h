// The host API (kernels/host_api) as one library, found while the program runs; and its two calls for PyTorch's tensors.
//
// A process may have two builds of it, the twin's and the NPU's, with the same names: so neither is linked, each is loaded for itself.
#pragma once
#include <string>

#include "gn_host_api.h"
#include "outputs.h"

namespace gn_torch {

// The second call of an operator; all are alike.
using SecondCall = GnStatus (*)(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

class Host {
 public:
  // Throws c10::Error for a library that cannot be loaded or lacks a function.
  explicit Host(const std::string& path);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Throws what the library said, unless status is GN_SUCCESS.
  void Check(GnStatus status) const;
  // A function of this build by its name; throws if there is none.
  void* Find(const char* name) const;

  decltype(&::GnGetRecentErrMsg) GetRecentErrMsg;
  decltype(&::GnCreateTensor) CreateTensor;
  decltype(&::GnDestroyTensor) DestroyTensor;
  decltype(&::GnDestroyStream) DestroyStream;
  decltype(&::GnDestroyExecutor) DestroyExecutor;

 private:
  void* library_;
};

// The descriptor of a tensor, null for one that is not there. The executor keeps what it needs of it.
class Described {
 public:
  Described(const Host& host, const at::Tensor& tensor);
  Described(const Host& host, const MaybeTensor& tensor) : Described(host, tensor.value_or(at::Tensor())) {}
  ~Described() {
    if (handle_ != nullptr) host_.DestroyTensor(handle_);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  operator GnTensor*() const { return handle_; }

 private:
  const Host& host_;
  GnTensor* handle_ = nullptr;
};

// What the first call gave: an executor, and its workspace on the tensors' device. The second call uses it up; else it is given back.
class Planned {
 public:
  Planned(const Host& host, SecondCall second) : host_(host), second_(second) {}
  Planned(Planned&& other) noexcept;
  Planned(const Planned&) = delete;
  ~Planned();
  // Puts the work on the stream. The tensors and this object must stay until the stream is done with them.
  GnStatus Run(GnStream* stream);
  void Allocate(const at::Tensor& like);  // on that tensor's device

  uint64_t bytes = 0;
  GnExecutor* executor = nullptr;

 private:
  const Host& host_;
  SecondCall second_;
  at::Tensor workspace_;
};

// Both calls of an operator; First is the type of the first one, decltype(&::<op>GetWorkspaceSize). For a static of the caller: a
// look-up by name costs as much as the rest of a call. A library of these operators has one Host, so it is always the same.
template <class First>
class Calls {
 public:
  Calls(const Host& host, const std::string& op)
      : host_(host),
        first_(reinterpret_cast<First>(host.Find((op + "GetWorkspaceSize").c_str()))),
        second_(reinterpret_cast<SecondCall>(host.Find(op.c_str()))) {}

  // Makes the first call: `arguments` are all but its last two. They are checked already (checks.h); what is left to refuse comes with
  // the host API's own words.
  template <class... Arguments>
  Planned Plan(const at::Tensor& like, const Arguments&... arguments) const {
    Planned planned(host_, second_);
    host_.Check(first_(arguments..., &planned.bytes, &planned.executor));
    planned.Allocate(like);
    return planned;
  }

 private:
  const Host& host_;
  First first_;
  SecondCall second_;
};

// The path of a library that lies beside the one that this function is in.
std::string Beside(const char* name);

}  // namespace gn_torch
