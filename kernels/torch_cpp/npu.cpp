// The operators for tensors on an NPU, through torch_npu: a library of its own, because torch_npu is where an NPU is.
//
// Work must keep its place in PyTorch's order. torch_npu does not put an operator into the device's stream at once: it has a queue of
// its own, worked through by another thread. So the second call of the host API goes into that queue, too.
// Written from the public headers of torch_npu; not run on an NPU.
#include <c10/core/DeviceGuard.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

#include "operators.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

namespace gn_torch {
namespace {

using WrapStream = GnStatus (*)(void* aclrt_stream, GnStream** stream);

const Host& Npu() {
  static const Host host(Beside("libgn_host_npu.so"));
  return host;
}

// The handle of an aclrtStream. PyTorch's streams live as long as the process.
GnStatus HandleOf(void* stream, GnStream** handle) {
  static std::mutex mutex;
  static std::map<void*, GnStream*> known;
  std::lock_guard<std::mutex> lock(mutex);
  GnStream*& found = known[stream];
  if (found == nullptr) {
    static const auto wrap = reinterpret_cast<WrapStream>(Npu().Find("GnWrapStream"));
    if (const GnStatus wrong = wrap(stream, &found); wrong != GN_SUCCESS) return wrong;
  }
  *handle = found;
  return GN_SUCCESS;
}

// Queues the second call. `tensors` are what it reads and writes: the queue holds on to them until it has been made.
void Queue(const char* name, Planned planned, std::vector<at::Tensor> tensors) {
  const auto stream = c10_npu::getCurrentNPUStream().stream(false);  // does not wait: the queue keeps the order
  auto plan = std::make_shared<Planned>(std::move(planned));         // a std::function must be copied
  auto work = [name, plan, kept = std::move(tensors), stream]() -> int {
    GnStream* handle = nullptr;
    GnStatus status = HandleOf(stream, &handle);
    if (status == GN_SUCCESS) status = plan->Run(handle);
    // Another thread than the caller's: the number goes to torch_npu, which raises at the next synchronisation.
    if (status != GN_SUCCESS) std::fprintf(stderr, "%s: %s\n", name, Npu().GetRecentErrMsg());
    return status;
  };
  at_npu::native::OpCommand::RunOpApiV2(name, work);
}

void Keep(std::vector<at::Tensor>* kept, const at::Tensor& one) { kept->push_back(one); }
void Keep(std::vector<at::Tensor>* kept, const MaybeTensor& one) {
  if (one.has_value()) kept->push_back(*one);
}
void Keep(std::vector<at::Tensor>* kept, const Three& made) {
  for (const at::Tensor* one : {&std::get<0>(made), &std::get<1>(made), &std::get<2>(made)}) kept->push_back(*one);
}

struct OnNpu {
  static constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
  static constexpr const char* kName = "an NPU";
  using Guard = c10::OptionalDeviceGuard;  // memory, cores and stream are those of the current device

  template <class Plan, class... Tensors>
  static void Launch(const char* name, const Plan& plan, const Tensors&... tensors) {
    std::vector<at::Tensor> kept;
    (Keep(&kept, tensors), ...);
    Queue(name, plan(Npu()), std::move(kept));
  }
};

}  // namespace
}  // namespace gn_torch

TORCH_LIBRARY_IMPL(gn_tutorial_cpp, PrivateUse1, m) { gn_torch::Operators<gn_torch::OnNpu>::Register(m); }
