#include "host.h"

#include <dlfcn.h>

namespace gn_torch {
namespace {

GnDataType TypeOf(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf ? GN_FLOAT16 : tensor.scalar_type() == at::kBFloat16 ? GN_BF16 : GN_FLOAT;
}

void OfThisLibrary() {}

}  // namespace

Host::Host(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  TORCH_CHECK(library_ != nullptr, "the host API cannot be loaded: ", dlerror());
#define GN_FIND(name, symbol) name = reinterpret_cast<decltype(name)>(Find(symbol))
  GN_FIND(GetRecentErrMsg, "GnGetRecentErrMsg");
  GN_FIND(CreateTensor, "GnCreateTensor");
  GN_FIND(DestroyTensor, "GnDestroyTensor");
  GN_FIND(DestroyStream, "GnDestroyStream");
  GN_FIND(DestroyExecutor, "GnDestroyExecutor");
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

Described::Described(const Host& host, const at::Tensor& tensor) : host_(host) {
  if (!tensor.defined()) return;
  int64_t storage = tensor.numel() == 0 ? 0 : 1;
  for (int64_t axis = 0; axis < tensor.dim() && storage > 0; ++axis)
    storage += (tensor.size(axis) - 1) * tensor.stride(axis);
  host.Check(host.CreateTensor(tensor.sizes().data(), static_cast<uint64_t>(tensor.dim()), TypeOf(tensor),
                               tensor.strides().data(), 0, &storage, 1, tensor.data_ptr(), &handle_));
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

std::string Beside(const char* name) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&OfThisLibrary), &info) == 0 || info.dli_fname == nullptr) return name;
  const std::string path = info.dli_fname;
  return path.substr(0, path.find_last_of('/') + 1) + name;
}

}  // namespace gn_torch
