// Planning and running of executors, and the second call.
#include "executor.h"

#include <cinttypes>
#include <cstring>

#include "stream.h"
#include "strided_copy_tiling.h"

namespace gn_host {
namespace {

// A float as one element: bfloat16 is its upper half; for half, the two numbers that are needed.
void PutNumber(GnDataType dtype, float value, uint8_t* to) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (dtype == GN_FLOAT) {
    std::memcpy(to, &bits, 4);
    return;
  }
  const uint16_t narrow = dtype == GN_BF16 ? static_cast<uint16_t>(bits >> 16) : value == 0.0f ? 0 : 0x3c00;
  std::memcpy(to, &narrow, 2);
}

}  // namespace

Place Executor::Room(uint64_t bytes) {
  Place place;
  if (bytes == 0) return place;
  place.in_workspace = true;
  place.offset = bytes_;
  bytes_ += (bytes + kAlign - 1) / kAlign * kAlign;
  return place;
}

Place Executor::Host(std::vector<uint8_t> bytes) {
  const uint64_t total = bytes.size();
  const Place to = Room(total);
  copies_.push_back({to, std::move(bytes), total});
  return to;
}

PlannedArg Executor::Constant(const char* name, GnDataType dtype, int64_t count, float value) {
  constexpr int64_t kAtOnce = 4096;  // a plan must not need memory that grows with the tensors
  const uint64_t item = dtype == GN_FLOAT ? 4 : 2;
  std::vector<uint8_t> bytes(static_cast<uint64_t>(count < kAtOnce ? count : kAtOnce) * item);
  for (size_t at = 0; at < bytes.size(); at += item) PutNumber(dtype, value, &bytes[at]);
  const uint64_t total = static_cast<uint64_t>(count) * item;
  const Place to = Room(total);
  if (total > 0) copies_.push_back({to, std::move(bytes), total});
  return {name, Role::kIn, to, total};
}

void Executor::AddCopy(const Tensor& tensor, Place packed, bool unpack) {
  std::vector<int64_t> dense(tensor.dims.size(), 1);
  for (size_t axis = dense.size(); axis > 1; --axis) dense[axis - 2] = dense[axis - 1] * tensor.dims[axis - 1];
  StridedCopyTilingData tiling{};
  const int64_t* const from = unpack ? dense.data() : tensor.strides.data();
  const int64_t* const to = unpack ? tensor.strides.data() : dense.data();
  const char* const refused =
      MakeStridedCopyTiling(static_cast<int32_t>(tensor.dims.size()), tensor.dims.data(), from, to,
                            static_cast<int32_t>(tensor.ItemBytes()), static_cast<int32_t>(VectorCores()), &tiling);
  if (refused != nullptr) {
    if (!first_.Failed()) first_ = {GN_ERR_INNER_TILING, refused, "MakeStridedCopyTiling", "copy the tensor first"};
    return;
  }
  const Place strided{tensor.First(), 0, false};
  const PlannedArg x{"x", Role::kIn, unpack ? packed : strided, unpack ? tensor.Bytes() : tensor.ExtentBytes()};
  const PlannedArg y{"y", Role::kOut, unpack ? strided : packed, unpack ? tensor.ExtentBytes() : tensor.Bytes()};
  Add({"strided_copy", tiling.usedCores, {x, y, TilingData(tiling)}});
}

PlannedArg Executor::Input(const char* name, const Tensor& tensor) {
  tensors_.push_back(tensor);
  PlannedArg arg{name, Role::kIn, {tensor.First(), 0, false}, tensor.Bytes()};
  if (tensor.Contiguous()) return arg;
  arg.place = Room(arg.bytes);
  AddCopy(tensor, arg.place, false);
  return arg;
}

PlannedArg Executor::Output(const char* name, const Tensor* tensor) {
  if (tensor == nullptr) return {name, Role::kOut, {}, 0};
  tensors_.push_back(*tensor);
  PlannedArg arg{name, Role::kOut, {tensor->First(), 0, false}, tensor->Bytes()};
  if (tensor->Contiguous()) return arg;
  arg.place = Room(arg.bytes);
  unpackings_.push_back({*tensor, arg.place});
  return arg;
}

Outcome Executor::Finish() {
  for (const Unpacking& one : unpackings_) AddCopy(one.tensor, one.packed, true);
  unpackings_.clear();
  return first_;
}

bool Executor::Touches(const void* memory, uint64_t bytes) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  for (const Tensor& tensor : tensors_) {
    const uintptr_t first = reinterpret_cast<uintptr_t>(tensor.First());
    if (tensor.count > 0 && begin < first + tensor.ExtentBytes() && first < begin + bytes) return true;
  }
  return false;
}

Outcome Executor::Run(Device& device, uint8_t* workspace) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(workspace);
  uint8_t* const aligned = workspace + ((begin + kAlign - 1) / kAlign * kAlign - begin);
  for (const PlannedCopy& copy : copies_) {
    auto* const to = static_cast<uint8_t*>(copy.to.At(aligned));
    for (uint64_t at = 0; at < copy.total; at += copy.bytes.size()) {
      const uint64_t left = copy.total - at;
      const uint64_t bytes = left < copy.bytes.size() ? left : copy.bytes.size();
      if (Outcome wrong = device.Copy(to + at, copy.bytes.data(), bytes); wrong.Failed()) return wrong;
    }
  }
  for (const PlannedLaunch& planned : launches_) {
    KernelCall call{planned.entry, planned.blocks, {}};
    for (const PlannedArg& arg : planned.args) {
      void* const data = arg.role == Role::kNumber ? const_cast<uint32_t*>(&arg.number)
                         : arg.bytes == 0          ? nullptr
                                                   : arg.place.At(aligned);
      call.args.push_back({arg.name, arg.role, data, arg.bytes});
    }
    Outcome wrong = device.Launch(call);
    if (wrong.Failed()) return wrong;
  }
  return {};
}

GnStatus Execute(const char* op, void* workspace, uint64_t workspace_bytes, GnExecutor* executor, GnStream* stream) {
  return Guarded(op, [&]() -> Outcome {
    const std::string made = Text("pass what %sGetWorkspaceSize returned", op);
    const std::string again = Text("an executor is used once: call %sGetWorkspaceSize again", op);
    if (executor == nullptr) return Null("executor is null", made);
    if (stream == nullptr) return Null("stream is null", "pass what GnCreateStream returned");
    const std::shared_ptr<Stream> queue = Streams::Only().Find(stream);
    if (queue == nullptr) return Invalid("stream was destroyed, or never made", "pass what GnCreateStream returned");
    if (Outcome wrong = queue->Usable(); wrong.Failed()) return wrong;
    std::shared_ptr<Executor> plan = Executors::Only().Find(executor);
    if (plan == nullptr) return Invalid("executor was used or destroyed before, or never made", again);
    if (std::strcmp(plan->op(), op) != 0)
      return Invalid(Text("executor was made by %sGetWorkspaceSize", plan->op()), made);
    const uint64_t needed = plan->WorkspaceBytes();
    if (needed > 0 && workspace == nullptr)
      return Null(Text("workspace is null, and %" PRIu64 " bytes are needed", needed), "allocate as many");
    if (workspace_bytes < needed) {
      return Invalid(Text("workspaceSize is %" PRIu64 ", and %" PRIu64 " bytes are needed", workspace_bytes, needed),
                     "allocate what the first call said");
    }
    if (needed > 0 && UINTPTR_MAX - reinterpret_cast<uintptr_t>(workspace) < needed)
      return Invalid("workspace ends behind the end of memory", "pass the address of an allocation");
    if (needed > 0 && plan->Touches(workspace, needed))
      return Invalid("workspace shares memory with a tensor", "allocate it on its own");
    for (const PlannedLaunch& launch : plan->launches()) {
      Outcome wrong = queue->Find(launch.entry);
      if (wrong.Failed()) return wrong;
    }
    plan = Executors::Only().Take(executor);  // another thread may have been faster
    if (plan == nullptr) return Invalid("executor was used or destroyed before, or never made", again);
    auto* const memory = static_cast<uint8_t*>(workspace);
    return queue->Submit([plan, memory](Device& device) { return plan->Run(device, memory); });
  });
}

}  // namespace gn_host

extern "C" GnStatus GnDestroyExecutor(GnExecutor* executor) {
  using namespace gn_host;
  return Guarded("GnDestroyExecutor", [&]() -> Outcome {
    if (executor == nullptr) return Null("executor is null");
    if (Executors::Only().Take(executor) == nullptr)
      return Invalid("executor was used or destroyed before, or never made",
                     "the second call of an operator destroys it");
    return {};
  });
}

extern "C" uint32_t GnVectorCores(void) { return gn_host::VectorCores(); }
