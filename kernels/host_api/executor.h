// An executor: what the first call planned, for the second call to run.
//
// A plan knows nothing of the device, and no address: it says "so many bytes into that tensor", or into a workspace that the caller will
// bring. So one plan can be run again with tensors elsewhere. It holds the workspace's layout: tiling data, what kernels ask for, packed
// copies of tensors that are not contiguous.
#pragma once
#include <string>
#include <vector>

#include "device.h"
#include "tensor.h"

namespace gn_host {

class Stream;

// Where tensors and workspace are in one run: of each tensor of the plan, where its storage begins.
struct Bases {
  uint8_t* workspace;
  const std::vector<uint8_t*>& tensors;
};

// Somewhere on the device: so many bytes into a tensor of the plan, or into the workspace. Nowhere by default.
struct Place {
  static constexpr int32_t kWorkspace = -1, kNowhere = -2;
  int32_t base = kNowhere;  // a tensor's number in the plan, or one of these
  uint64_t offset = 0;

  uint8_t* At(const Bases& bases) const {
    if (base == kNowhere) return nullptr;
    return (base == kWorkspace ? bases.workspace : bases.tensors[static_cast<size_t>(base)]) + offset;
  }
};

struct PlannedArg {
  const char* name;
  Role role;
  Place place;
  uint64_t bytes;
  uint32_t number = 0;
};

struct PlannedLaunch {
  const char* entry;
  uint32_t blocks;
  std::vector<PlannedArg> args;
};

// Numbers that the host knows, copied to the device before the first launch: `total` bytes, `bytes` again and again.
struct PlannedCopy {
  Place to;
  std::vector<uint8_t> bytes;
  uint64_t total;
};

class Executor {
 public:
  // Parts of a workspace begin at multiples of this: a line of the L2 cache, so that two cores do not write one.
  static constexpr uint64_t kAlign = 512;

  explicit Executor(const char* op) : op_(op) {}

  // --- planning: in the order in which it is to happen. Parameters of a kernel, by their names there ---
  // The tensor's elements one behind the other: where they are, or a packed copy of them.
  PlannedArg Input(const char* name, const Tensor& tensor);
  // Where a kernel writes them; `Finish` unpacks what is not contiguous. Null: not wanted, and no memory.
  PlannedArg Output(const char* name, const Tensor* tensor);
  // The same for a kernel that has float32 there, whatever the tensor's type is: a narrower one is widened first, or narrowed behind.
  PlannedArg FloatInput(const char* name, const Tensor& tensor);
  PlannedArg FloatOutput(const char* name, const Tensor& tensor);
  // `count` elements of that type, all of the value: what a missing gamma or bias stands for.
  PlannedArg Constant(const char* name, GnDataType dtype, int64_t count, float value);
  PlannedArg Workspace(uint64_t bytes) { return {"workspace", Role::kWorkspace, Room(bytes), bytes}; }
  template <class Tiling>
  PlannedArg TilingData(const Tiling& tiling) {
    const auto* const first = reinterpret_cast<const uint8_t*>(&tiling);
    return {"tiling", Role::kTiling, Host({first, first + sizeof(Tiling)}), sizeof(Tiling)};
  }
  static PlannedArg Number(const char* name, uint32_t number) {
    return {name, Role::kNumber, {}, sizeof(number), number};
  }
  void Add(PlannedLaunch launch) { launches_.push_back(std::move(launch)); }
  // Adds the launches that narrow and unpack outputs. Returns the first failure of the planning: until here nobody has to ask.
  Outcome Finish();

  // --- running ---
  const char* op() const { return op_; }
  // With room to begin at a multiple of kAlign, wherever the caller's memory begins.
  uint64_t WorkspaceBytes() const { return bytes_ == 0 ? 0 : bytes_ + kAlign - 1; }
  const std::vector<PlannedLaunch>& launches() const { return launches_; }
  // Where the tensors are that were planned with.
  std::vector<uint8_t*> PlannedBases() const;
  // Copies, then launches, one after the other; stops at the first that fails.
  Outcome Run(Device& device, uint8_t* workspace, const std::vector<uint8_t*>& tensors) const;

  // --- running again (repeat.cpp) ---
  // From now on the second call leaves the executor as it is. tensors[i]: whose address MoveTo gets as number i; null for none.
  Outcome Repeatable(const GnTensor* const* tensors, uint64_t count);
  bool repeatable() const { return repeatable_; }
  // The bases for these addresses of the tensors' data. Refuses what depends on addresses: null, alignment, shared memory.
  Outcome MoveTo(void* const* data, uint64_t count, std::vector<uint8_t*>* bases) const;
  // Refuses a workspace that is null, too small, or shares memory with a tensor.
  Outcome CheckWorkspace(const uint8_t* workspace, uint64_t bytes, const std::vector<uint8_t*>& tensors) const;

 private:
  struct Used {
    Tensor tensor;
    bool written;
    uint64_t number = kNoNumber;  // its place among the addresses of a run, once the executor is repeatable
  };
  struct Unpacking {
    Tensor tensor;
    Place strided, packed;
  };
  struct Narrowing {
    PlannedArg wide, narrow;
    int64_t count;
    GnDataType dtype;
  };
  static constexpr uint64_t kNoNumber = UINT64_MAX;

  // Refuses a written tensor that shares memory with another one.
  Outcome CheckShared(const std::vector<uint8_t*>& bases) const;
  // Notes the tensor; where its first element is.
  Place Use(const Tensor& tensor, bool written);
  Place Room(uint64_t bytes);
  Place Host(std::vector<uint8_t> bytes);
  // Plans one copy between the tensor's elements and a contiguous place: packing, or unpacking.
  void AddCopy(const Tensor& tensor, Place strided, Place packed, bool unpack);
  // Plans one cast of `count` contiguous elements: the kernel's name says which way, dtype is that of the narrow side.
  void AddCast(const char* kernel, PlannedArg from, PlannedArg to, int64_t count, GnDataType dtype);

  const char* op_;
  uint64_t bytes_ = 0;
  Outcome first_;  // failure
  std::vector<PlannedCopy> copies_;
  std::vector<PlannedLaunch> launches_;
  std::vector<Narrowing> narrowings_;
  std::vector<Unpacking> unpackings_;
  std::vector<Used> tensors_;
  bool repeatable_ = false;
  uint64_t addresses_ = 0;  // of a run, if repeatable
};

using Executors = Table<Executor, GnExecutor>;

// The first call of every operator: `plan` checks the arguments and plans into the executor that it is given. Only a plan that holds is
// handed out; after a refusal the caller has 0 bytes and no executor.
template <class Plan>
GnStatus Prepare(const char* function, const char* op, uint64_t* workspace_bytes, GnExecutor** executor, Plan&& plan) {
  return Guarded(function, [&]() -> Outcome {
    if (workspace_bytes == nullptr) return Null("workspaceSize is null", "pass the address of a uint64_t");
    if (executor == nullptr) return Null("executor is null", "pass the address of a GnExecutor*");
    *workspace_bytes = 0;
    *executor = nullptr;
    auto made = std::make_shared<Executor>(op);
    if (Outcome wrong = plan(made.get()); wrong.Failed()) return wrong;
    *workspace_bytes = made->WorkspaceBytes();
    *executor = Executors::Only().Add(std::move(made));
    return {};
  });
}

// What a run needs of the stream: it can be used, and has the kernels.
Outcome CheckStream(Stream& stream, const Executor& plan);

// The second call of every operator: op is its name, and who made the executor.
GnStatus Execute(const char* op, void* workspace, uint64_t workspace_bytes, GnExecutor* executor, GnStream* stream);

}  // namespace gn_host
