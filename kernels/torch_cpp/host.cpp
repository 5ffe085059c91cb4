#include "host.h"

#include <dlfcn.h>

namespace gn_torch {
namespace {

GnDataType TypeOf(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf ? GN_FLOAT16 : tensor.scalar_type() == at::kBFloat16 ? GN_BF16 : GN_FLOAT;
}

// The descriptor of a tensor, null for one that is not there. The executor keeps what it needs of it.
class Described {
 public:
  Described(const Host& host, const at::Tensor& tensor) : host_(host) {
    if (!tensor.defined()) return;
    int64_t storage = tensor.numel() == 0 ? 0 : 1;
    for (int64_t axis = 0; axis < tensor.dim() && storage > 0; ++axis)
      storage += (tensor.size(axis) - 1) * tensor.stride(axis);
    host.Check(host.CreateTensor(tensor.sizes().data(), static_cast<uint64_t>(tensor.dim()), TypeOf(tensor),
                                 tensor.strides().data(), 0, &storage, 1, tensor.data_ptr(), &handle_));
  }
  Described(const Host& host, const MaybeTensor& tensor) : Described(host, tensor.value_or(at::Tensor())) {}
  ~Described() {
    if (handle_ != nullptr) host_.DestroyTensor(handle_);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  operator GnTensor*() const { return handle_; }

 private:
  const Host& host_;
  GnTensor* handle_ = nullptr;
};

struct Sizes {
  int64_t n, c, hxw;
  explicit Sizes(const at::Tensor& x) : n(x.size(0)), c(x.size(1)), hxw(1) {
    for (int64_t axis = 2; axis < x.dim(); ++axis) hxw *= x.size(axis);
  }
};

void OfThisLibrary() {}

}  // namespace

Host::Host(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  TORCH_CHECK(library_ != nullptr, "the host API cannot be loaded: ", dlerror());
#define GN_FIND(name, symbol) name = reinterpret_cast<decltype(name)>(Find(symbol))
#define GN_FIND_BOTH(name) (GN_FIND(name##GetWorkspaceSize, #name "GetWorkspaceSize"), GN_FIND(name, #name))
  GN_FIND(GetRecentErrMsg, "GnGetRecentErrMsg");
  GN_FIND(CreateTensor, "GnCreateTensor");
  GN_FIND(DestroyTensor, "GnDestroyTensor");
  GN_FIND(CreateStream, "GnCreateStream");
  GN_FIND(SynchronizeStream, "GnSynchronizeStream");
  GN_FIND(DestroyStream, "GnDestroyStream");
  GN_FIND(DestroyExecutor, "GnDestroyExecutor");
  GN_FIND_BOTH(GroupNorm);
  GN_FIND_BOTH(GroupNormBackward);
  GN_FIND_BOTH(Gelu);
  GN_FIND_BOTH(GeluBackward);
  GN_FIND_BOTH(Linear);
  GN_FIND_BOTH(LinearBackward);
#undef GN_FIND_BOTH
#undef GN_FIND
}

void* Host::Find(const char* name) const {
  void* const found = dlsym(library_, name);
  TORCH_CHECK(found != nullptr, "the host API has no function ", name,
              ": build it and this extension from one state of the sources");
  return found;
}

void Host::Check(GnStatus status) const {
  if (status == GN_SUCCESS) return;
  const char* const text = GetRecentErrMsg();
  const std::string said = text == nullptr ? "no text" : text;
  TORCH_CHECK_VALUE(status != GN_ERR_PARAM_NULLPTR && status != GN_ERR_PARAM_INVALID, said, " (", status, ")");
  TORCH_CHECK(false, said, " (", status, ")");
}

Planned::Planned(Planned&& other) noexcept
    : bytes(other.bytes),
      executor(other.executor),
      host_(other.host_),
      second_(other.second_),
      workspace_(std::move(other.workspace_)) {
  other.executor = nullptr;
}

Planned::~Planned() {
  if (executor != nullptr) host_.DestroyExecutor(executor);
}

void Planned::Allocate(const at::Tensor& like) {
  workspace_ = at::empty({static_cast<int64_t>(bytes)},
                         like.options().dtype(at::kByte).memory_format(at::MemoryFormat::Contiguous));
}

GnStatus Planned::Run(GnStream* stream) {
  const GnStatus status = second_(bytes == 0 ? nullptr : workspace_.data_ptr(), bytes, executor, stream);
  if (status == GN_SUCCESS) executor = nullptr;
  return status;
}

Planned PlanForward(const Host& host, const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias,
                    int64_t num_groups, double eps, const Three& made) {
  const Sizes sizes(x);
  const Described in(host, x), gamma(host, weight), beta(host, bias);
  const Described y(host, std::get<0>(made)), mean(host, std::get<1>(made)), rstd(host, std::get<2>(made));
  Planned planned(host, host.GroupNorm);
  host.Check(host.GroupNormGetWorkspaceSize(in, gamma, beta, sizes.n, sizes.c, sizes.hxw, num_groups, eps, y, mean,
                                            rstd, &planned.bytes, &planned.executor));
  planned.Allocate(x);
  return planned;
}

Planned PlanBackward(const Host& host, const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean,
                     const at::Tensor& rstd, const MaybeTensor& weight, int64_t num_groups, std::array<bool, 3> mask,
                     const Three& made) {
  const Sizes sizes(x);
  const Described dy(host, grad_y), in(host, x), m(host, mean), r(host, rstd), gamma(host, weight);
  const Described dx(host, std::get<0>(made)), dgamma(host, std::get<1>(made)), dbeta(host, std::get<2>(made));
  const uint8_t wanted[] = {mask[0], mask[1], mask[2]};
  Planned planned(host, host.GroupNormBackward);
  host.Check(host.GroupNormBackwardGetWorkspaceSize(dy, in, m, r, gamma, sizes.n, sizes.c, sizes.hxw, num_groups,
                                                    wanted, 3, dx, dgamma, dbeta, &planned.bytes, &planned.executor));
  planned.Allocate(x);
  return planned;
}

Planned PlanGelu(const Host& host, const at::Tensor& x, const at::Tensor& made) {
  const Described in(host, x), y(host, made);
  Planned planned(host, host.Gelu);
  host.Check(host.GeluGetWorkspaceSize(in, y, &planned.bytes, &planned.executor));
  planned.Allocate(x);
  return planned;
}

Planned PlanGeluBackward(const Host& host, const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& made) {
  const Described dy(host, grad_y), in(host, x), dx(host, made);
  Planned planned(host, host.GeluBackward);
  host.Check(host.GeluBackwardGetWorkspaceSize(dy, in, dx, &planned.bytes, &planned.executor));
  planned.Allocate(x);
  return planned;
}

Planned PlanLinear(const Host& host, const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias,
                   const at::Tensor& made) {
  const Described in(host, x), w(host, weight), b(host, bias), y(host, made);
  Planned planned(host, host.Linear);
  host.Check(host.LinearGetWorkspaceSize(in, w, b, y, &planned.bytes, &planned.executor));
  planned.Allocate(x);
  return planned;
}

Planned PlanLinearBackward(const Host& host, const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& weight,
                           std::array<bool, 3> mask, const Three& made) {
  const Described dy(host, grad_y), in(host, x), w(host, weight);
  const Described dx(host, std::get<0>(made)), dweight(host, std::get<1>(made)), dbias(host, std::get<2>(made));
  const uint8_t wanted[] = {mask[0], mask[1], mask[2]};
  Planned planned(host, host.LinearBackward);
  host.Check(
      host.LinearBackwardGetWorkspaceSize(dy, in, w, wanted, 3, dx, dweight, dbias, &planned.bytes, &planned.executor));
  planned.Allocate(x);
  return planned;
}

std::string Beside(const char* name) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&OfThisLibrary), &info) == 0 || info.dli_fname == nullptr) return name;
  const std::string path = info.dli_fname;
  return path.substr(0, path.find_last_of('/') + 1) + name;
}

}  // namespace gn_torch
