// An NPU as the device of the host API (kernels/host_api/device.h): work goes into the queue of an aclrtStream, on the caller's thread.
//
// Written from the public documentation of CANN; nothing here was run on an NPU.
#include "acl/acl.h"

#include <cstring>
#include <stdexcept>

#include "device.h"
#include "gn_host_npu.h"
#include "launchers.h"
#include "staging.h"
#include "stream.h"

namespace gn_host {
namespace {

constexpr const char* kDevice = "call aclrtSetDevice on this thread, or make torch's NPU the current device";

// What a failed call of the runtime comes to: its number and, if it has one, its text.
Outcome Failure(aclError code, const char* call) {
  const char* const text = aclGetRecentErrMsg();
  return {GN_ERR_RUNTIME,
          Text("%s returned %d%s%s", call, static_cast<int>(code), text == nullptr ? "" : ": ",
               text == nullptr ? "" : text),
          call,
          "the number is an aclError; CANN's log has more: ASCEND_GLOBAL_LOG_LEVEL=1 ASCEND_SLOG_PRINT_TO_STDOUT=1"};
}

// A stream takes work from threads whose current context is the one it was made in. A caller's thread may have another device.
class InContext {
 public:
  explicit InContext(aclrtContext wanted) {
    if (aclrtGetCurrentContext(&before_) != ACL_SUCCESS) before_ = nullptr;
    if (before_ == wanted) return;
    changed_ = true;
    status_ = aclrtSetCurrentContext(wanted);
  }
  ~InContext() {
    if (changed_ && before_ != nullptr) aclrtSetCurrentContext(before_);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  Outcome Status() const { return status_ == ACL_SUCCESS ? Outcome{} : Failure(status_, "aclrtSetCurrentContext"); }

 private:
  aclrtContext before_ = nullptr;
  bool changed_ = false;
  aclError status_ = ACL_SUCCESS;
};

const GnLaunchable* Launchable(const char* entry) {
  for (const GnLaunchable* one = kGnLaunchables; one->entry != nullptr; ++one)
    if (std::strcmp(one->entry, entry) == 0) return one;
  return nullptr;
}

class NpuDevice : public Device {
 public:
  // owned: whether the stream is this device's to destroy.
  NpuDevice(aclrtContext context, aclrtStream stream, bool owned) : context_(context), stream_(stream), owned_(owned) {}

  ~NpuDevice() override {
    InContext here(context_);
    staging_.reset();
    if (owned_) aclrtDestroyStream(stream_);
  }

  Outcome Find(const char* entry) override {
    if (Launchable(entry) != nullptr) return {};
    return {GN_ERR_INNER_FIND_KERNEL, Text("kernel %s has no launcher", entry), "kernels/npu",
            "add its .asc file there, then build again"};
  }

  Outcome Copy(void* to, const void* from, uint64_t bytes) override {
    InContext here(context_);
    if (here.Status().Failed()) return here.Status();
    const aclError wrong = staging_->Copy(to, from, bytes, stream_);
    return wrong == ACL_SUCCESS ? Outcome{} : Failure(wrong, "aclrtMemcpyAsync");
  }

  Outcome Launch(const KernelCall& call) override {
    const GnLaunchable* const found = Launchable(call.entry);
    if (found == nullptr) return Find(call.entry);
    if (found->arguments != call.args.size())
      return {GN_ERR_INNER,
              Text("kernel %s takes %u parameters, not %zu", call.entry, found->arguments, call.args.size()),
              "kernels/npu", "the launcher and kernels/host_api do not fit: build both again"};
    std::vector<void*> args;
    for (const KernelArg& arg : call.args) args.push_back(arg.data);
    InContext here(context_);
    if (here.Status().Failed()) return here.Status();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);  // whoever made an earlier error has been told of it
    found->launch(call.blocks, stream_, args.data());
    const aclError wrong = aclrtGetLastError(ACL_RT_THREAD_LEVEL);  // <<<>>> returns nothing
    return wrong == ACL_SUCCESS ? Outcome{} : Failure(wrong, call.entry);
  }

  bool HasQueue() const override { return true; }

  Outcome Synchronize() override {
    InContext here(context_);
    if (here.Status().Failed()) return here.Status();
    const aclError wrong = aclrtSynchronizeStream(stream_);
    return wrong == ACL_SUCCESS ? Outcome{} : Failure(wrong, "aclrtSynchronizeStream");
  }

  Outcome LaunchHostFunc(GnHostFunc fn, void* args) override {
    InContext here(context_);
    if (here.Status().Failed()) return here.Status();
    const aclError wrong = aclrtLaunchHostFunc(stream_, fn, args);
    return wrong == ACL_SUCCESS ? Outcome{} : Failure(wrong, "aclrtLaunchHostFunc");
  }

 private:
  aclrtContext context_;
  aclrtStream stream_;
  bool owned_;
  std::unique_ptr<Staging> staging_ = std::make_unique<Staging>();
};

Outcome CurrentContext(aclrtContext* context) {
  const aclError wrong = aclrtGetCurrentContext(context);
  if (wrong == ACL_SUCCESS && *context != nullptr) return {};
  return {GN_ERR_RUNTIME, "this thread has no NPU as its current device", "aclrtGetCurrentContext", kDevice};
}

}  // namespace

std::unique_ptr<Device> OpenDevice() {
  aclrtContext context = nullptr;
  if (Outcome wrong = CurrentContext(&context); wrong.Failed())
    throw std::runtime_error(wrong.text + ": " + wrong.hint);
  aclrtStream stream = nullptr;
  if (const aclError wrong = aclrtCreateStream(&stream); wrong != ACL_SUCCESS)
    throw std::runtime_error(Failure(wrong, "aclrtCreateStream").text);
  return std::make_unique<NpuDevice>(context, stream, true);
}

// Those of the calling thread's current device: a plan is made before its stream is known.
uint32_t VectorCores() {
  int32_t device = 0;
  int64_t cores = 0;
  if (aclrtGetDevice(&device) != ACL_SUCCESS) return 0;
  if (aclrtGetDeviceInfo(static_cast<uint32_t>(device), ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores) != ACL_SUCCESS) return 0;
  return cores > 0 ? static_cast<uint32_t>(cores) : 0;
}

}  // namespace gn_host

extern "C" GnStatus GnWrapStream(void* aclrt_stream, GnStream** stream) {
  using namespace gn_host;
  return Guarded("GnWrapStream", [&]() -> Outcome {
    if (aclrt_stream == nullptr) return Null("aclrt_stream is null", "pass an aclrtStream, such as torch's npu_stream");
    if (stream == nullptr) return Null("stream is null", "pass the address of a GnStream*");
    aclrtContext context = nullptr;
    if (Outcome wrong = CurrentContext(&context); wrong.Failed()) return wrong;
    *stream = Streams::Only().Add(std::make_shared<Stream>(std::make_unique<NpuDevice>(context, aclrt_stream, false)));
    return {};
  });
}

extern "C" GnStatus GnLaunchKernel(const char* entry, uint32_t blocks, void** args, uint64_t count, GnStream* stream) {
  using namespace gn_host;
  return Guarded("GnLaunchKernel", [&]() -> Outcome {
    if (entry == nullptr) return Null("entry is null", "the name of a kernel");
    if (args == nullptr && count > 0) return Null("args is null", "an address for each parameter");
    if (stream == nullptr) return Null("stream is null", "pass what GnCreateStream returned");
    const std::shared_ptr<Stream> queue = Streams::Only().Find(stream);
    if (queue == nullptr) return Invalid("stream was destroyed, or never made", "pass what GnCreateStream returned");
    KernelCall call{entry, blocks, {}};
    for (uint64_t at = 0; at < count; ++at) call.args.push_back({"", Role::kIn, args[at], 1});
    return queue->Submit([&](Device& device) { return device.Launch(call); });
  });
}
