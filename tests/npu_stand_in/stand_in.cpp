// A runtime for tests of kernels/npu: a stream that does nothing until it is synchronised, the slowest that an NPU may be.
//
// Copies keep the address they were given and read it as late as they can, so host memory that does not live long enough gives wrong
// numbers. A kernel is the twin's: a launch calls its library, in the stream's order.
// No NPU and no code of CANN is in this.
#include "acl/acl.h"
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gn_twin/base/abi.h"
#include "stand_in_launch.h"

#define GN_API __attribute__((visibility("default")))

namespace {

struct Context {
  int32_t device;
};
using Work = std::deque<std::function<void()>>;
struct Queue {
  Context* context;
  Work work;
  Work* graph = nullptr;  // where work goes instead while it is captured
  bool spoilt = false;    // something was done meanwhile that the documentation forbids
  void Push(std::function<void()> one) { (graph == nullptr ? work : *graph).push_back(std::move(one)); }
};
struct Event {
  bool pending = false;
};
using Run = int32_t (*)(const char* entry, GntJob* job);

// What happened, for the test to ask. Static: the tests have one such library in a process, and reset it.
struct Seen {
  int64_t pinned = 0, live_pinned = 0, live_events = 0, live_streams = 0, waits = 0, copies = 0, launches = 0, blocks = 0;
  std::thread::id thread;
};
Seen seen;
std::map<void*, size_t> pinned;
std::map<std::string, Run> kernels;
Context contexts[2] = {{0}, {1}};
thread_local Context* current = nullptr;
thread_local aclError last = 0;
aclError next_launch = 0, next_copy = 0;
int64_t cores = 48;
Queue* capturing = nullptr;

void Drain(Queue* queue) {
  while (!queue->work.empty()) {
    auto work = std::move(queue->work.front());
    queue->work.pop_front();
    work();
  }
}

constexpr aclError kWrongContext = 107002;
constexpr aclError kWhileCapturing = 107041;

// Queries and waits are forbidden in any mode while a stream is captured, and spoil the graph.
bool Forbidden() {
  if (capturing != nullptr) capturing->spoilt = true;
  return capturing != nullptr;
}

Queue* Mine(aclrtStream stream) {
  auto* const queue = static_cast<Queue*>(stream);
  return queue->context == current ? queue : nullptr;
}

// In a process that no test has told of kernels: lines of "<entry> <library>" in the file that STAND_IN_KERNELS names.
void LoadListed() {
  const char* const list = std::getenv("STAND_IN_KERNELS");
  std::ifstream lines(list == nullptr ? "" : list);
  std::string entry, path;
  while (lines >> entry >> path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) kernels[entry] = reinterpret_cast<Run>(dlsym(library, "gnt_run"));
  }
}

void Launch(const char* entry, uint32_t count, uint32_t blocks, aclrtStream stream, const StandInArg* args) {
  seen.thread = std::this_thread::get_id();
  if (next_launch != 0 || Mine(stream) == nullptr) {
    last = next_launch != 0 ? next_launch : kWrongContext;
    next_launch = 0;
    return;
  }
  ++seen.launches;
  seen.blocks = blocks;
  static_cast<Queue*>(stream)->Push([=, kept = std::vector<StandInArg>(args, args + count)]() mutable {
    std::vector<GntArg> given;
    // A launcher gets no sizes. The library is one without checks, which only asks whether there is any memory.
    for (uint32_t at = 0; at < count; ++at) {
      StandInArg& one = kept[at];
      if (one.by_value) {
        given.push_back({"", reinterpret_cast<uint8_t*>(&one.number), sizeof(one.number), GNT_VALUE, GNT_IN, 0});
      } else {
        given.push_back({"", static_cast<uint8_t*>(one.address), one.address == nullptr ? 0 : uint64_t{1} << 40, GNT_TENSOR, at + 1 == count ? GNT_TILING : GNT_IN, 0});
      }
    }
    std::vector<char> report(4096);
    GntJob job{};
    job.abi_version = GNT_ABI_VERSION;
    job.blocks = blocks;
    job.args = given.data();
    job.arg_count = count;
    job.report = report.data();
    job.report_bytes = report.size();
    if (kernels.count(entry) == 0) LoadListed();
    if (kernels.at(entry)(entry, &job) != GNT_OK) std::abort();
  });
}

}  // namespace

extern "C" {
// What the stand-in compiler (bisheng) makes of name<<<blocks, 0, stream>>>(...).
GN_API void stand_in_launch(const char* entry, uint32_t count, uint32_t blocks, void* stream, const StandInArg* args) {
  Launch(entry, count, blocks, stream, args);
}

// --- what the test says and asks ---
GN_API int stand_in_kernel(const char* entry, const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  kernels[entry] = reinterpret_cast<Run>(dlsym(library, "gnt_run"));
  return kernels[entry] == nullptr;
}
GN_API void stand_in_reset(int device) {
  seen = Seen{};
  next_launch = next_copy = 0;
  capturing = nullptr;
  current = device < 0 ? nullptr : &contexts[device];
}
GN_API void stand_in_fail(int copy, int launch) {
  next_copy = copy;
  next_launch = launch;
}
GN_API void stand_in_cores(int64_t number) { cores = number; }
GN_API int64_t stand_in_seen(const char* what) {
  const std::map<std::string, int64_t> all = {
      {"pinned", seen.pinned},       {"live_pinned", seen.live_pinned}, {"live_events", seen.live_events},
      {"streams", seen.live_streams}, {"waits", seen.waits},             {"copies", seen.copies},
      {"launches", seen.launches},   {"blocks", seen.blocks},           {"device", current == nullptr ? -1 : current->device},
      {"on_this_thread", seen.thread == std::this_thread::get_id()}};
  return all.at(what);
}
GN_API int64_t stand_in_waiting(aclrtStream stream) { return static_cast<int64_t>(static_cast<Queue*>(stream)->work.size()); }
GN_API aclrtStream stand_in_stream() { return new Queue{current, {}}; }

// --- the runtime ---
aclError aclInit(const char*) { return 0; }
const char* aclrtGetSocName() { return "StandIn"; }
aclError aclrtSetDevice(int32_t device) {
  if (device < 0 || device > 1) return kWrongContext;
  current = &contexts[device];
  return 0;
}
aclError aclrtMalloc(void** device, size_t size, aclrtMemMallocPolicy) {
  *device = std::aligned_alloc(512, (size + 511) / 512 * 512);
  return 0;
}
aclError aclrtFree(void* device) {
  std::free(device);
  return 0;
}
aclError aclrtMemcpy(void* to, size_t most, const void* from, size_t count, aclrtMemcpyKind) {
  if (count > most) return 1;
  std::memcpy(to, from, count);
  return 0;
}
const char* aclGetRecentErrMsg() { return "the stand-in was told to fail"; }
aclError aclrtGetLastError(aclrtLastErrLevel) {
  const aclError told = last;
  last = 0;
  return told;
}
aclError aclrtGetDevice(int32_t* device) {
  if (current == nullptr) return kWrongContext;
  *device = current->device;
  return 0;
}
aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attr, int64_t* value) {
  *value = cores;
  return attr == ACL_DEV_ATTR_VECTOR_CORE_NUM ? 0 : 1;
}
aclError aclrtGetCurrentContext(aclrtContext* context) {
  *context = current;
  return current == nullptr ? kWrongContext : 0;
}
aclError aclrtSetCurrentContext(aclrtContext context) {
  current = static_cast<Context*>(context);
  return 0;
}
aclError aclrtCreateStream(aclrtStream* stream) {
  *stream = stand_in_stream();
  ++seen.live_streams;
  return 0;
}
aclError aclrtDestroyStream(aclrtStream stream) {
  --seen.live_streams;
  delete static_cast<Queue*>(stream);
  return 0;
}
aclError aclrtSynchronizeStream(aclrtStream stream) {
  Queue* const queue = Mine(stream);
  if (queue == nullptr) return kWrongContext;
  if (Forbidden()) return kWhileCapturing;
  Drain(queue);
  return 0;
}
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  Queue* const queue = Mine(stream);
  if (queue == nullptr) return kWrongContext;
  queue->Push([=] { fn(args); });
  return 0;
}
aclError aclrtMallocHost(void** host, size_t size) {
  *host = std::malloc(size);
  pinned[*host] = size;
  ++seen.pinned, ++seen.live_pinned;
  return 0;
}
aclError aclrtFreeHost(void* host) {
  std::memset(host, 0xa5, pinned.at(host));  // a copy that still reads it gets this
  pinned.erase(host);
  std::free(host);
  --seen.live_pinned;
  return 0;
}
aclError aclrtMemcpyAsync(void* to, size_t most, const void* from, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
  Queue* const queue = Mine(stream);
  if (queue == nullptr) return kWrongContext;
  if (next_copy != 0) {
    const aclError told = next_copy;
    next_copy = 0;
    return told;
  }
  if (count > most || kind != ACL_MEMCPY_HOST_TO_DEVICE) return 1;
  ++seen.copies;
  const auto held = pinned.upper_bound(const_cast<void*>(from));
  const bool locked = held != pinned.begin() && static_cast<const char*>(from) + count <= static_cast<char*>(std::prev(held)->first) + std::prev(held)->second;
  if (!locked && Forbidden()) return kWhileCapturing;
  queue->Push([=] { std::memcpy(to, from, count); });
  if (!locked) {  // pageable memory: returns when the copy is done
    ++seen.waits;
    Drain(queue);
  }
  return 0;
}
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
  *event = new Event;
  ++seen.live_events;
  return 0;
}
aclError aclrtDestroyEvent(aclrtEvent event) {
  --seen.live_events;
  delete static_cast<Event*>(event);
  return 0;
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  Queue* const queue = Mine(stream);
  if (queue == nullptr) return kWrongContext;
  static_cast<Event*>(event)->pending = true;
  queue->Push([event] { static_cast<Event*>(event)->pending = false; });
  return 0;
}
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode) {
  Queue* const queue = Mine(stream);
  if (queue == nullptr || capturing != nullptr) return kWrongContext;
  queue->graph = new Work;
  queue->spoilt = false;
  capturing = queue;
  return 0;
}
aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* graph) {
  const auto* const queue = static_cast<Queue*>(stream);
  *status = queue->graph == nullptr ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
            : queue->spoilt         ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                    : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  *graph = queue->graph;
  return 0;
}
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* graph) {
  Queue* const queue = Mine(stream);
  if (queue == nullptr || queue->graph == nullptr) return kWrongContext;
  *graph = queue->graph;
  queue->graph = nullptr;
  capturing = nullptr;
  return queue->spoilt ? kWhileCapturing : 0;
}
aclError aclmdlRIExecuteAsync(aclmdlRI graph, aclrtStream stream) {
  Queue* const queue = Mine(stream);
  if (queue == nullptr) return kWrongContext;
  for (const auto& one : *static_cast<Work*>(graph)) queue->Push(one);
  return 0;
}
aclError aclmdlRIDestroy(aclmdlRI graph) {
  delete static_cast<Work*>(graph);
  return 0;
}
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  if (Forbidden()) return kWhileCapturing;
  *status = static_cast<Event*>(event)->pending ? ACL_EVENT_RECORDED_STATUS_NOT_READY : ACL_EVENT_RECORDED_STATUS_COMPLETE;
  return 0;
}
}
