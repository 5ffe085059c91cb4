// The seam between the host API and the device: everything above it is the same for the twin and for an NPU.
//
// The twin's side is gn_tutorial/twin/host/twin_device.cpp: device memory is the process's own, and a launch calls the compiled kernel
// library. The NPU's is kernels/npu/npu_device.cpp: it copies with aclrtMemcpyAsync and launches with <<<>>> on an aclrtStream.
#pragma once
#include <memory>
#include <vector>

#include "failure.h"

namespace gn_host {

// What a kernel does with a parameter. The order is that of a registry's roles: in, out, workspace, tiling. A number goes by value.
enum class Role { kIn, kOut, kWorkspace, kTiling, kNumber };

struct KernelArg {
  const char* name;
  Role role;
  void* data;  // on the device; null where bytes is 0. Of a number: on the host, and only until `Launch` returns
  uint64_t bytes;
};

// One launch: the kernel's entry, the blocks it runs on, and its parameters in their order.
struct KernelCall {
  const char* entry;
  uint32_t blocks;
  std::vector<KernelArg> args;
};

// The device as one stream sees it. `Find` is called by the second call of an operator; `Copy` and `Launch` in the order in which they
// are to take effect: on the stream's own thread, or, on a device that has a queue, on the thread that made the second call.
class Device {
 public:
  virtual ~Device() = default;
  // Whether the kernel can be launched; so that a missing one is said before anything is queued.
  virtual Outcome Find(const char* entry) = 0;
  // `bytes` from host memory to device memory.
  virtual Outcome Copy(void* to, const void* from, uint64_t bytes) = 0;
  virtual Outcome Launch(const KernelCall& call) = 0;

  // Whether the device keeps the order of work itself. Then `Copy` and `Launch` return when their work is in its queue, and
  // must not read `from` later: it may be gone when `Copy` has returned. The stream has no thread, and calls these two.
  virtual bool HasQueue() const { return false; }
  // Waits for the device's queue; what failed there.
  virtual Outcome Synchronize() { return {}; }
  // Puts the call of a host function into the device's queue.
  virtual Outcome LaunchHostFunc(GnHostFunc fn, void* args) {
    fn(args);
    return {};
  }
};

// Of the device that this library was built for. OpenDevice throws std::runtime_error if there is none to be had; VectorCores is then 0,
// which every tiling function refuses.
std::unique_ptr<Device> OpenDevice();
uint32_t VectorCores();

}  // namespace gn_host
