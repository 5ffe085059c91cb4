// Executors that are run again and again, with tensors at other addresses.
//
// What the first call checked stays true: shapes, strides and types are the plan's. What depends on addresses is checked in each run.
#include <cinttypes>

#include "executor.h"
#include "overlap.h"
#include "stream.h"

namespace gn_host {

Outcome Executor::Repeatable(const GnTensor* const* tensors, uint64_t count) {
  if (repeatable_) return Invalid("executor is repeatable already", "call this once, right after the first call");
  for (Used& one : tensors_) {
    one.number = kNoNumber;
    for (uint64_t at = 0; at < count && one.number == kNoNumber; ++at)
      if (tensors[at] != nullptr && tensors[at] == one.tensor.handle) one.number = at;
    if (one.number == kNoNumber)
      return Invalid("a tensor of the first call is not among the tensors", "name all that it was given");
  }
  repeatable_ = true;
  addresses_ = count;
  return {};
}

Outcome Executor::MoveTo(void* const* data, uint64_t count, std::vector<uint8_t*>* bases) const {
  if (!repeatable_) return Invalid("executor is not repeatable", "call GnSetExecutorRepeatable after the first call");
  if (count != addresses_)
    return Invalid(Text("count is %" PRIu64 "; it must be %" PRIu64, count, addresses_),
                   "an address for each tensor that GnSetExecutorRepeatable was given");
  bases->reserve(tensors_.size());
  for (const Used& one : tensors_) {
    auto* const base = static_cast<uint8_t*>(data[one.number]);
    if (one.tensor.count > 0 && base == nullptr)
      return Null(Text("tensorData[%" PRIu64 "] is null, and the tensor has elements", one.number));
    if (reinterpret_cast<uintptr_t>(base) % one.tensor.ItemBytes() != 0)
      return Invalid(Text("tensorData[%" PRIu64 "] is not a multiple of %u, the bytes of %s", one.number,
                          one.tensor.ItemBytes(), TypeText(one.tensor.dtype).c_str()),
                     "an address from an allocation is");
    bases->push_back(base);
  }
  return CheckShared(*bases);
}

Outcome Executor::CheckShared(const std::vector<uint8_t*>& bases) const {
  struct Span {
    uintptr_t begin, end;
  };
  const auto span = [&](size_t at) -> Span {
    const Tensor& tensor = tensors_[at].tensor;
    const uintptr_t begin =
        reinterpret_cast<uintptr_t>(bases[at]) + static_cast<uint64_t>(tensor.offset) * tensor.ItemBytes();
    return {begin, begin + tensor.ExtentBytes()};
  };
  for (size_t out = 0; out < tensors_.size(); ++out) {
    if (!tensors_[out].written) continue;
    const Span own = span(out);
    for (size_t other = 0; other < tensors_.size(); ++other) {
      if (other == out || (tensors_[other].written && other > out)) continue;
      const Span its = span(other);
      if (own.end <= its.begin || its.end <= own.begin) continue;
      // The exact answer needs descriptions with these addresses, which is rarely asked for.
      Tensor a = tensors_[out].tensor, b = tensors_[other].tensor;
      a.storage = bases[out];
      b.storage = bases[other];
      if (Overlap(a, b))
        return Invalid(Text("tensorData[%" PRIu64 "] shares memory with tensorData[%" PRIu64 "], and is written",
                            tensors_[out].number, tensors_[other].number),
                       "give the output memory of its own");
    }
  }
  return {};
}

namespace {

constexpr const char* kPlan = "pass what the first call returned, and destroy it after the last run";

std::shared_ptr<Executor> FindPlan(const GnExecutor* executor, Outcome* wrong) {
  std::shared_ptr<Executor> plan;
  if (executor == nullptr) {
    *wrong = Null("executor is null", kPlan);
  } else if (plan = Executors::Only().Find(executor); plan == nullptr) {
    *wrong = Invalid("executor was used or destroyed before, or never made", kPlan);
  }
  return plan;
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus GnSetExecutorRepeatable(GnExecutor* executor, const GnTensor** tensors, uint64_t count) {
  using namespace gn_host;
  return Guarded("GnSetExecutorRepeatable", [&]() -> Outcome {
    Outcome wrong;
    const std::shared_ptr<Executor> plan = FindPlan(executor, &wrong);
    if (wrong.Failed()) return wrong;
    if (tensors == nullptr && count > 0) return Null("tensors is null", "the tensors of the first call");
    return plan->Repeatable(tensors, count);
  });
}

extern "C" GnStatus GnRunExecutor(GnExecutor* executor, void** tensorData, uint64_t count, void* workspace,
                                  uint64_t workspaceSize, GnStream* stream) {
  using namespace gn_host;
  return Guarded("GnRunExecutor", [&]() -> Outcome {
    Outcome wrong;
    const std::shared_ptr<Executor> plan = FindPlan(executor, &wrong);
    if (wrong.Failed()) return wrong;
    if (tensorData == nullptr && count > 0) return Null("tensorData is null", "an address for each tensor");
    if (stream == nullptr) return Null("stream is null", "pass what GnCreateStream returned");
    const std::shared_ptr<Stream> queue = Streams::Only().Find(stream);
    if (queue == nullptr) return Invalid("stream was destroyed, or never made", "pass what GnCreateStream returned");
    std::vector<uint8_t*> bases;
    auto* const memory = static_cast<uint8_t*>(workspace);
    wrong = plan->MoveTo(tensorData, count, &bases);
    if (!wrong.Failed()) wrong = plan->CheckWorkspace(memory, workspaceSize, bases);
    if (!wrong.Failed()) wrong = CheckStream(*queue, *plan);
    if (wrong.Failed()) return wrong;
    return queue->Submit(
        [plan, memory, bases = std::move(bases)](Device& device) { return plan->Run(device, memory, bases); });
  });
}
