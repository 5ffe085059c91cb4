// The operators for tensors without data: what a tracer, such as torch.compile, runs to learn shapes, types and layouts.
#include "operators.h"

namespace gn_torch {
namespace {

// The dispatcher comes here if any argument is on meta, and CheckDevice refuses a real x: its results would be memory as it was found.
struct Meta {
  static constexpr c10::DeviceType kType = c10::DeviceType::Meta;
  static constexpr const char* kName = "meta";
  using Guard = NoGuard;

  template <class Plan, class... Tensors>
  static void Launch(const char*, const Plan&, const Tensors&...) {}
};

}  // namespace
}  // namespace gn_torch

TORCH_LIBRARY_IMPL(gn_tutorial_cpp, Meta, m) { gn_torch::Operators<gn_torch::Meta>::Register(m); }
