// The host API (kernels/host_api) as one library, found while the program runs; and its two calls for PyTorch's tensors.
//
// A process may have two builds of it, the twin's and the NPU's, with the same names: so neither is linked, each is loaded for itself.
#pragma once
#include <string>

#include "gn_host_api.h"
#include "outputs.h"

namespace gn_torch {

class Host {
 public:
  // Throws c10::Error for a library that cannot be loaded or lacks a function.
  explicit Host(const std::string& path);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Throws what the library said, unless status is GN_SUCCESS.
  void Check(GnStatus status) const;
  // A function of this build that gn_host_api.h does not have; throws if there is none.
  void* Find(const char* name) const;

  decltype(&::GnGetRecentErrMsg) GetRecentErrMsg;
  decltype(&::GnCreateTensor) CreateTensor;
  decltype(&::GnDestroyTensor) DestroyTensor;
  decltype(&::GnCreateStream) CreateStream;
  decltype(&::GnSynchronizeStream) SynchronizeStream;
  decltype(&::GnDestroyStream) DestroyStream;
  decltype(&::GnDestroyExecutor) DestroyExecutor;
  decltype(&::GroupNormGetWorkspaceSize) GroupNormGetWorkspaceSize;
  decltype(&::GroupNorm) GroupNorm;
  decltype(&::GroupNormBackwardGetWorkspaceSize) GroupNormBackwardGetWorkspaceSize;
  decltype(&::GroupNormBackward) GroupNormBackward;
  decltype(&::GeluGetWorkspaceSize) GeluGetWorkspaceSize;
  decltype(&::Gelu) Gelu;
  decltype(&::GeluBackwardGetWorkspaceSize) GeluBackwardGetWorkspaceSize;
  decltype(&::GeluBackward) GeluBackward;
  decltype(&::LinearGetWorkspaceSize) LinearGetWorkspaceSize;
  decltype(&::Linear) Linear;
  decltype(&::LinearBackwardGetWorkspaceSize) LinearBackwardGetWorkspaceSize;
  decltype(&::LinearBackward) LinearBackward;

 private:
  void* library_;
};

// What the first call gave: an executor, and its workspace on the tensors' device. The second call uses it up; else it is given back.
class Planned {
 public:
  using Second = decltype(&::GroupNorm);

  Planned(const Host& host, Second second) : host_(host), second_(second) {}
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
  Second second_;
  at::Tensor workspace_;
};

// The first call. Arguments are checked already (checks.h); what is left to refuse comes with the host API's own words.
Planned PlanForward(const Host& host, const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias,
                    int64_t num_groups, double eps, const Three& made);
Planned PlanBackward(const Host& host, const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean,
                     const at::Tensor& rstd, const MaybeTensor& weight, int64_t num_groups, std::array<bool, 3> mask,
                     const Three& made);
Planned PlanGelu(const Host& host, const at::Tensor& x, const at::Tensor& made);
Planned PlanGeluBackward(const Host& host, const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& made);
Planned PlanLinear(const Host& host, const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias,
                   const at::Tensor& made);
Planned PlanLinearBackward(const Host& host, const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& weight,
                           std::array<bool, 3> mask, const Three& made);

// The path of a library that lies beside the one that this function is in.
std::string Beside(const char* name);

}  // namespace gn_torch
