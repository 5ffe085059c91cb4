// The twin as the device of the host API (kernels/host_api/device.h): device memory is the process's own, and a launch
// calls the compiled kernel library in this process.
#include <dlfcn.h>

#include <cstring>
#include <map>

#include "device.h"
#include "gn_host_twin.h"
#include "gn_twin/base/abi.h"
#include "stream.h"

namespace gn_host {
namespace {

constexpr size_t kReportBytes = 64 * 1024;
constexpr const char* kRebuild = "gnt cache clear, then build it again";

using Run = int32_t (*)(const char* entry, GntJob* job);

GntRole TwinRole(Role role) {
  switch (role) {
    case Role::kIn: return GNT_IN;
    case Role::kOut: return GNT_OUT;
    case Role::kWorkspace: return GNT_WORKSPACE;
    case Role::kTiling: return GNT_TILING;
    case Role::kNumber: return GNT_IN;  // any role will do: the twin ignores the role of a GNT_VALUE
  }
  return GNT_IN;
}

// Returns the folder that this library was loaded from, with a final slash; empty if the system does not tell it.
std::string OwnFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.find_last_of('/') + 1);
}

class TwinDevice : public Device {
 public:
  // direct: whether calls do their work on the caller's thread. The stream then has no thread, because it treats the
  // device as one with its own queue.
  explicit TwinDevice(bool direct) : direct_(direct) {}

  bool HasQueue() const override { return direct_; }

  Outcome LaunchHostFunc(GnHostFunc, void*) override {
    return Invalid("this stream has no thread to call a host function on", "GnCreateStream makes one that has");
  }

  Outcome Find(const char* entry) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (kernels_.find(entry) != kernels_.end()) return {};
    return LoadLocked(entry, OwnFolder() + entry + ".so");
  }

  Outcome Load(const char* entry, const std::string& path) {
    std::lock_guard<std::mutex> lock(mutex_);
    return LoadLocked(entry, path);
  }

  Outcome Copy(void* to, const void* from, uint64_t bytes) override {
    std::memcpy(to, from, bytes);
    return {};
  }

  Outcome Launch(const KernelCall& call) override {
    std::vector<GntArg> args;
    for (const KernelArg& arg : call.args) {
      const GntKind kind = arg.role == Role::kNumber ? GNT_VALUE : GNT_TENSOR;
      args.push_back({arg.name, static_cast<uint8_t*>(arg.data), arg.bytes, kind, TwinRole(arg.role), 0});
    }
    const std::unique_ptr<char[]> report(
        new char[kReportBytes]);  // not cleared: that would take longer than a small launch
    report[0] = '\0';
    GntJob job{};
    job.abi_version = GNT_ABI_VERSION;
    job.blocks = call.blocks;
    job.args = args.data();
    job.arg_count = static_cast<uint32_t>(args.size());
    job.report = report.get();
    job.report_bytes = kReportBytes;
    Run run = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      run = kernels_.find(call.entry)->second;
    }
    if (run(call.entry, &job) == GNT_OK) return {};
    // The report has one JSON object per finding, each on a line of its own (docs/architecture.md). Python turns them
    // into sentences.
    return {GN_ERR_RUNTIME, std::string("the twin stopped kernel ") + call.entry + ":\n" + report.get(), call.entry,
            "`gnt explain <id>` says what an id means"};
  }

 private:
  // Loads a kernel library; the caller holds the mutex. Libraries stay loaded for the life of the process, because a
  // thread may be running in one.
  Outcome LoadLocked(const std::string& entry, const std::string& path) {
    const auto missing = [&](const std::string& why) -> Outcome {
      return {GN_ERR_INNER_FIND_KERNEL, "kernel " + entry + " cannot be loaded: " + why, path, kRebuild};
    };
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return missing(dlerror());
    using Number = uint32_t (*)();
    const auto version = reinterpret_cast<Number>(dlsym(library, "gnt_abi"));
    const auto run = reinterpret_cast<Run>(dlsym(library, "gnt_run"));
    if (version == nullptr || run == nullptr) return missing("it is no kernel library");
    if (version() != (GNT_ABI_VERSION << 16 | static_cast<uint32_t>(sizeof(GntJob))))
      return missing("it was built for another version");
    kernels_[entry] = run;
    return {};
  }

  const bool direct_;
  std::mutex mutex_;
  std::map<std::string, Run, std::less<>> kernels_;
};

}  // namespace

std::unique_ptr<Device> OpenDevice() { return std::make_unique<TwinDevice>(false); }
uint32_t VectorCores() { return GNT_DEFAULT_CORES; }

}  // namespace gn_host

extern "C" GnStatus GnTwinCreateDirectStream(GnStream** stream) {
  using namespace gn_host;
  return Guarded("GnTwinCreateDirectStream", [&]() -> Outcome {
    if (stream == nullptr) return Null("stream is null", "pass the address of a GnStream*");
    *stream = Streams::Only().Add(std::make_shared<Stream>(std::make_unique<TwinDevice>(true)));
    return {};
  });
}

extern "C" GnStatus GnTwinUseKernel(GnStream* stream, const char* entry, const char* path) {
  using namespace gn_host;
  return Guarded("GnTwinUseKernel", [&]() -> Outcome {
    if (stream == nullptr || entry == nullptr || path == nullptr)
      return Null(stream == nullptr ? "stream is null" : entry == nullptr ? "entry is null" : "path is null");
    const std::shared_ptr<Stream> queue = Streams::Only().Find(stream);
    if (queue == nullptr) return Invalid("stream was destroyed, or never made", "pass what GnCreateStream returned");
    if (Outcome wrong = queue->Usable(); wrong.Failed()) return wrong;
    return static_cast<TwinDevice&>(queue->device()).Load(entry, path);
  });
}
