// Planning and running of executors, and the second call.
#include "executor.h"

#include <cinttypes>
#include <cstring>

#include "common_elements_tiling.h"
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
  if (bytes == 0) return {};
  const Place place{Place::kWorkspace, bytes_};
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

Place Executor::Use(const Tensor& tensor, bool written) {
  tensors_.push_back({tensor, written});
  if (tensor.count == 0) return {};
  return {static_cast<int32_t>(tensors_.size() - 1), static_cast<uint64_t>(tensor.offset) * tensor.ItemBytes()};
}

void Executor::AddCopy(const Tensor& tensor, Place strided, Place packed, bool unpack) {
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
  const PlannedArg x{"x", Role::kIn, unpack ? packed : strided, unpack ? tensor.Bytes() : tensor.ExtentBytes()};
  const PlannedArg y{"y", Role::kOut, unpack ? strided : packed, unpack ? tensor.ExtentBytes() : tensor.Bytes()};
  Add({"strided_copy", tiling.usedCores, {x, y, TilingData(tiling)}});
}

PlannedArg Executor::Input(const char* name, const Tensor& tensor) {
  const Place own = Use(tensor, false);
  PlannedArg arg{name, Role::kIn, own, tensor.Bytes()};
  if (tensor.Contiguous()) return arg;
  arg.place = Room(arg.bytes);
  AddCopy(tensor, own, arg.place, false);
  return arg;
}

PlannedArg Executor::Output(const char* name, const Tensor* tensor) {
  if (tensor == nullptr) return {name, Role::kOut, {}, 0};
  const Place own = Use(*tensor, true);
  PlannedArg arg{name, Role::kOut, own, tensor->Bytes()};
  if (tensor->Contiguous()) return arg;
  arg.place = Room(arg.bytes);
  unpackings_.push_back({*tensor, own, arg.place});
  return arg;
}

void Executor::AddCast(const char* kernel, PlannedArg from, PlannedArg to, int64_t count, GnDataType dtype) {
  uint32_t blocks = 0;
  constexpr uint32_t kNarrow = 2;  // bytes: shares are whole lines of both sides
  const char* const refused = MakeElementsBlocks(count, kNarrow, static_cast<int32_t>(VectorCores()), &blocks);
  if (refused != nullptr) {
    if (!first_.Failed()) first_ = {GN_ERR_INNER_TILING, refused, "MakeElementsBlocks", "convert the tensor first"};
    return;
  }
  from.name = "x";
  to.name = "y";
  if (blocks > 0)
    Add({kernel,
         blocks,
         {from, to, Number("n", static_cast<uint32_t>(count)), Number("dtype", static_cast<uint32_t>(dtype))}});
}

PlannedArg Executor::FloatInput(const char* name, const Tensor& tensor) {
  const PlannedArg own = Input(name, tensor);
  if (tensor.dtype == GN_FLOAT) return own;
  const uint64_t bytes = static_cast<uint64_t>(tensor.count) * sizeof(float);
  const PlannedArg wide{name, Role::kIn, Room(bytes), bytes};
  AddCast("widen_kernel", own, {name, Role::kOut, wide.place, bytes}, tensor.count, tensor.dtype);
  return wide;
}

PlannedArg Executor::FloatOutput(const char* name, const Tensor& tensor) {
  const PlannedArg own = Output(name, &tensor);
  if (tensor.dtype == GN_FLOAT) return own;
  const uint64_t bytes = static_cast<uint64_t>(tensor.count) * sizeof(float);
  const PlannedArg wide{name, Role::kOut, Room(bytes), bytes};
  narrowings_.push_back({wide, own, tensor.count, tensor.dtype});
  return wide;
}

Outcome Executor::Finish() {
  for (const Narrowing& one : narrowings_)
    AddCast("narrow_kernel", {"x", Role::kIn, one.wide.place, one.wide.bytes}, one.narrow, one.count, one.dtype);
  narrowings_.clear();
  for (const Unpacking& one : unpackings_) AddCopy(one.tensor, one.strided, one.packed, true);
  unpackings_.clear();
  return first_;
}

std::vector<uint8_t*> Executor::PlannedBases() const {
  std::vector<uint8_t*> bases;
  for (const Used& one : tensors_) bases.push_back(one.tensor.storage);
  return bases;
}

Outcome Executor::CheckWorkspace(const uint8_t* workspace, uint64_t bytes, const std::vector<uint8_t*>& tensors) const {
  const uint64_t needed = WorkspaceBytes();
  if (needed > 0 && workspace == nullptr)
    return Null(Text("workspace is null, and %" PRIu64 " bytes are needed", needed), "allocate as many");
  if (bytes < needed) {
    return Invalid(Text("workspaceSize is %" PRIu64 ", and %" PRIu64 " bytes are needed", bytes, needed),
                   "allocate what the first call said");
  }
  const uintptr_t begin = reinterpret_cast<uintptr_t>(workspace);
  if (needed > 0 && UINTPTR_MAX - begin < needed)
    return Invalid("workspace ends behind the end of memory", "pass the address of an allocation");
  for (size_t at = 0; at < tensors_.size() && needed > 0; ++at) {
    const Tensor& tensor = tensors_[at].tensor;
    const uintptr_t first =
        reinterpret_cast<uintptr_t>(tensors[at]) + static_cast<uint64_t>(tensor.offset) * tensor.ItemBytes();
    // A byte between a tensor's first and last counts as its own.
    if (tensor.count > 0 && begin < first + tensor.ExtentBytes() && first < begin + needed)
      return Invalid("workspace shares memory with a tensor", "allocate it on its own");
  }
  return {};
}

Outcome Executor::Run(Device& device, uint8_t* workspace, const std::vector<uint8_t*>& tensors) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(workspace);
  const Bases bases{workspace + ((begin + kAlign - 1) / kAlign * kAlign - begin), tensors};
  for (const PlannedCopy& copy : copies_) {
    uint8_t* const to = copy.to.At(bases);
    for (uint64_t at = 0; at < copy.total; at += copy.bytes.size()) {
      const uint64_t left = copy.total - at;
      const uint64_t bytes = left < copy.bytes.size() ? left : copy.bytes.size();
      if (Outcome wrong = device.Copy(to + at, copy.bytes.data(), bytes); wrong.Failed()) return wrong;
    }
  }
  for (const PlannedLaunch& planned : launches_) {
    KernelCall call{planned.entry, planned.blocks, {}};
    for (const PlannedArg& arg : planned.args) {
      void* data = arg.bytes == 0 ? nullptr : arg.place.At(bases);
      if (arg.role == Role::kNumber) data = const_cast<uint32_t*>(&arg.number);
      call.args.push_back({arg.name, arg.role, data, arg.bytes});
    }
    Outcome wrong = device.Launch(call);
    if (wrong.Failed()) return wrong;
  }
  return {};
}

Outcome CheckStream(Stream& stream, const Executor& plan) {
  if (Outcome wrong = stream.Usable(); wrong.Failed()) return wrong;
  for (const PlannedLaunch& launch : plan.launches())
    if (Outcome wrong = stream.Find(launch.entry); wrong.Failed()) return wrong;
  return {};
}

GnStatus Execute(const char* op, void* workspace, uint64_t workspace_bytes, GnExecutor* executor, GnStream* stream) {
  return Guarded(op, [&]() -> Outcome {
    const auto made = [op] { return Text("pass what %sGetWorkspaceSize returned", op); };
    const auto gone = [op] {
      return Invalid("executor was used or destroyed before, or never made",
                     Text("an executor is used once: call %sGetWorkspaceSize again", op));
    };
    if (executor == nullptr) return Null("executor is null", made());
    if (stream == nullptr) return Null("stream is null", "pass what GnCreateStream returned");
    const std::shared_ptr<Stream> queue = Streams::Only().Find(stream);
    if (queue == nullptr) return Invalid("stream was destroyed, or never made", "pass what GnCreateStream returned");
    if (Outcome wrong = queue->Usable(); wrong.Failed()) return wrong;
    std::shared_ptr<Executor> plan = Executors::Only().Find(executor);
    if (plan == nullptr) return gone();
    if (std::strcmp(plan->op(), op) != 0)
      return Invalid(Text("executor was made by %sGetWorkspaceSize", plan->op()), made());
    auto* const memory = static_cast<uint8_t*>(workspace);
    std::vector<uint8_t*> bases = plan->PlannedBases();
    if (Outcome wrong = plan->CheckWorkspace(memory, workspace_bytes, bases); wrong.Failed()) return wrong;
    if (Outcome wrong = CheckStream(*queue, *plan); wrong.Failed()) return wrong;
    if (!plan->repeatable()) plan = Executors::Only().Take(executor);  // another thread may have been faster
    if (plan == nullptr) return gone();
    return queue->Submit(
        [plan, memory, bases = std::move(bases)](Device& device) { return plan->Run(device, memory, bases); });
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
