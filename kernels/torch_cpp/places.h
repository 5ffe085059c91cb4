// Where tensors can be: each is a class with kType and kName, its device; Guard, a block in which the device that it is made with is the
// current one; and
//   Launch(name, plan, tensors...)
// which makes both calls of the host API: plan(host) is the first one, and `tensors` are all that the second one reads and writes.
#pragma once
#include <c10/core/DeviceGuard.h>

#include <utility>
#include <vector>

#include "host.h"

namespace gn_torch {

// Of a place that has one device.
struct NoGuard {
  explicit NoGuard(const c10::Device&) {}
};

// The CPU: the host API over the twin (cpu.cpp). A call waits for its result, as PyTorch expects there.
struct Cpu {
  static constexpr c10::DeviceType kType = c10::DeviceType::CPU;
  static constexpr const char* kName = "the CPU";
  using Guard = NoGuard;

  template <class Plan, class... Tensors>
  static void Launch(const char*, const Plan& plan, const Tensors&...) {
    Finish(plan(Library()));
  }

 private:
  static const Host& Library();
  static void Finish(Planned planned);
};

// No place: shapes, types and layouts without data, which is what a tracer such as torch.compile asks for. The dispatcher comes here if
// any argument is on meta, and CheckDevice refuses a real x: its results would be memory as it was found.
struct Meta {
  static constexpr c10::DeviceType kType = c10::DeviceType::Meta;
  static constexpr const char* kName = "meta";
  using Guard = NoGuard;

  template <class Plan, class... Tensors>
  static void Launch(const char*, const Plan&, const Tensors&...) {}
};

// An NPU, through torch_npu (npu.cpp): the second call joins torch_npu's queue.
struct OnNpu {
  static constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
  static constexpr const char* kName = "an NPU";
  using Guard = c10::OptionalDeviceGuard;  // memory, cores and stream are those of the current device

  template <class Plan, class... Tensors>
  static void Launch(const char* name, const Plan& plan, const Tensors&... tensors) {
    std::vector<at::Tensor> kept;
    (Keep(&kept, tensors), ...);
    for (const at::Tensor& one : kept) CheckFormat(one);
    Queue(name, plan(Library()), std::move(kept));
  }

 private:
  static void Keep(std::vector<at::Tensor>* kept, const at::Tensor& one) { kept->push_back(one); }
  static void Keep(std::vector<at::Tensor>* kept, const MaybeTensor& one) {
    if (one.has_value()) kept->push_back(*one);
  }
  static void Keep(std::vector<at::Tensor>* kept, const Three& made) {
    for (const at::Tensor* one : {&std::get<0>(made), &std::get<1>(made), &std::get<2>(made)}) kept->push_back(*one);
  }
  static const Host& Library();
  // Refuses a tensor in a private format, such as FRACTAL_NZ: its elements are not where its strides say.
  static void CheckFormat(const at::Tensor& one);
  // Queues the second call. `tensors` are what it reads and writes: the queue holds on to them until it has been made.
  static void Queue(const char* name, Planned planned, std::vector<at::Tensor> tensors);
};

}  // namespace gn_torch
