// Tensors on an NPU, through torch_npu: a library of its own, because torch_npu is where an NPU is.
//
// Work must keep its place in PyTorch's order. torch_npu does not put an operator into the device's stream at once: it has a queue of
// its own, worked through by another thread. So the second call of the host API goes into that queue, too.
// Written from the public headers of torch_npu; not run on an NPU.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

#include "places.h"
#include "torch_npu/csrc/core/npu/NPUFormat.h"
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

}  // namespace

const Host& OnNpu::Library() { return Npu(); }

void OnNpu::CheckFormat(const at::Tensor& one) {
  const int64_t format = at_npu::native::get_npu_format(one);
  const bool plain = format == ACL_FORMAT_NCHW || format == ACL_FORMAT_NHWC || format == ACL_FORMAT_ND ||
                     format == ACL_FORMAT_NCDHW;  // torch_npu's base formats
  TORCH_CHECK_VALUE(plain, "a tensor of shape ", one.sizes(), " is in the NPU's private format ", format,
                    "; torch_npu.npu_format_cast(x, ", static_cast<int>(ACL_FORMAT_ND), ") makes a plain one of it");
}

void OnNpu::Queue(const char* name, Planned planned, std::vector<at::Tensor> tensors) {
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

}  // namespace gn_torch
