// Tensors on the CPU: the host API over the twin. A call waits for its result, as PyTorch expects there.
#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>

#include "places.h"

namespace gn_torch {
namespace {

using CreateStream = GnStatus (*)(GnStream** stream);
using UseKernel = GnStatus (*)(GnStream* stream, const char* entry, const char* path);

// Where the twin's build of the host API and its kernels are. Told once, before the first call; else they lie beside this library, as
// `gnt dev host-library` writes them.
struct Places {
  std::mutex mutex;
  std::string host;
  std::vector<std::pair<std::string, std::string>> kernels;  // entry, path
};

Places& ThePlaces() {
  static Places places;
  return places;
}

const Host& Twin() {
  static const Host host([] {
    Places& places = ThePlaces();
    std::lock_guard<std::mutex> lock(places.mutex);
    return places.host.empty() ? Beside("libgn_host.so") : places.host;
  }());
  return host;
}

// A stream for each thread that calls, which does its work on that thread. A forked child needs its own.
class OwnStream {
 public:
  ~OwnStream() {
    if (stream_ != nullptr && process_ == getpid()) Twin().DestroyStream(stream_);
  }
  GnStream* Get() {
    if (stream_ != nullptr && process_ == getpid()) return stream_;
    const Host& host = Twin();
    GnStream* made = nullptr;
    static const auto create = reinterpret_cast<CreateStream>(host.Find("GnTwinCreateDirectStream"));
    host.Check(create(&made));
    Places& places = ThePlaces();
    std::lock_guard<std::mutex> lock(places.mutex);
    if (!places.kernels.empty()) {
      const auto use = reinterpret_cast<UseKernel>(host.Find("GnTwinUseKernel"));
      for (const auto& [entry, path] : places.kernels) host.Check(use(made, entry.c_str(), path.c_str()));
    }
    stream_ = made;
    process_ = getpid();
    return stream_;
  }

 private:
  GnStream* stream_ = nullptr;
  pid_t process_ = 0;
};

}  // namespace

const Host& Cpu::Library() { return Twin(); }

void Cpu::Finish(Planned planned) {
  static thread_local OwnStream own;
  Twin().Check(planned.Run(own.Get()));
}

}  // namespace gn_torch

// From now on the operators use this build of the host API, and launches of kernel entries[i] run the library paths[i].
extern "C" __attribute__((visibility("default"))) void gn_torch_use_twin(const char* host, const char* const* entries,
                                                                         const char* const* paths, uint64_t count) {
  gn_torch::Places& places = gn_torch::ThePlaces();
  std::lock_guard<std::mutex> lock(places.mutex);
  places.host = host;
  places.kernels.clear();
  for (uint64_t at = 0; at < count; ++at) places.kernels.emplace_back(entries[at], paths[at]);
}
