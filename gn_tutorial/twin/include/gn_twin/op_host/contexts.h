// What the framework hands to an operator's host functions: gert::TilingContext, TilingParseContext, InferShapeContext,
// InferDataTypeContext.
//
// Source: the graph engine's documentation of these classes. An index without an input, an output or data answers null, as on the
// host of a device. GetOptional... and GetDynamic... take the index of the declaration, the others that of the instance: an
// optional input that is left out shifts the latter.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gn_twin/op_host/attributes.h"
#include "gn_twin/op_host/host_functions.h"
#include "gn_twin/op_host/platform_infos.h"
#include "gn_twin/op_host/shape.h"

namespace gert {

// One input or output of the call, of the declaration `declared`.
struct GntInstance {
  size_t declared;
  StorageShape shape;
  CompileTimeTensorDesc desc;
  Tensor tensor;
};

// One call of an operator: what all contexts are views of. The driver fills it.
struct GntCall {
  std::string type, name;
  std::deque<GntInstance> inputs, outputs;  // a deque: what was handed out stays where it is
  size_t declared_inputs = 0, declared_outputs = 0;
  RuntimeAttrs attributes;
  bool deterministic = false;
  fe::PlatFormInfos platform;
  std::shared_ptr<void> compile_info;

  // What tiling set. `unset`: the value of a size that nobody set is whatever was there.
  static constexpr uint32_t kUnset = 0xffffffff;
  uint32_t blocks = kUnset;
  gn_twin::Loc blocks_at;
  uint64_t key = 0;
  bool key_set = false;
  bool workspace_asked = false;
  std::vector<size_t> workspaces;
  std::vector<uint8_t> tiling_bytes;
  size_t tiling_size = 0;
  uint32_t schedule_mode = 0, local_memory = 0;
};

class GntInstanceInfo {
 public:
  GntInstanceInfo(size_t start, size_t many) : start_(start), many_(many) {}
  size_t GetInstanceStart() const { return start_; }
  size_t GetInstanceNum() const { return many_; }

 private:
  size_t start_, many_;
};
using AnchorInstanceInfo = GntInstanceInfo;

// The operator as a node of a graph: its names, its inputs and outputs as they are there.
class ComputeNodeInfo {
 public:
  explicit ComputeNodeInfo(const GntCall& call) : call_(&call) {}
  const char* GetNodeName() const { return call_->name.c_str(); }
  const char* GetNodeType() const { return call_->type.c_str(); }
  size_t GetIrInputsNum() const { return call_->declared_inputs; }
  size_t GetInputsNum() const { return call_->inputs.size(); }
  size_t GetOutputsNum() const { return call_->outputs.size(); }
  const RuntimeAttrs* GetAttrs() const { return &call_->attributes; }
  const CompileTimeTensorDesc* GetInputTdInfo(size_t index) const {
    return index < call_->inputs.size() ? &call_->inputs[index].desc : nullptr;
  }
  const CompileTimeTensorDesc* GetOutputTdInfo(size_t index) const {
    return index < call_->outputs.size() ? &call_->outputs[index].desc : nullptr;
  }
  const GntInstanceInfo* GetInputInstanceInfo(size_t declared) const {
    if (declared >= call_->declared_inputs) return nullptr;
    size_t start = 0, many = 0;
    for (const GntInstance& one : call_->inputs) {
      start += one.declared < declared;
      many += one.declared == declared;
    }
    infos_.push_back({start, many});
    return &infos_.back();
  }

 private:
  const GntCall* call_;
  mutable std::deque<GntInstanceInfo> infos_;
};

// What all contexts have.
class KernelContext {
 public:
  explicit KernelContext(GntCall& call) : call_(&call), node_(call) {}

  const char* GetNodeName() const { return call_->name.c_str(); }
  const char* GetNodeType() const { return call_->type.c_str(); }
  size_t GetComputeNodeInputNum() const { return call_->inputs.size(); }
  size_t GetComputeNodeOutputNum() const { return call_->outputs.size(); }
  const RuntimeAttrs* GetAttrs() const { return &call_->attributes; }
  int32_t GetDeterministic() const { return call_->deterministic ? 1 : 0; }
  const GntInstanceInfo* GetIrInputInstanceInfo(size_t declared) const { return node_.GetInputInstanceInfo(declared); }
  const ComputeNodeInfo* GetComputeNodeInfo() const { return &node_; }
  const CompileTimeTensorDesc* GetInputDesc(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Input(index, loc, "GetInputDesc");
    return one == nullptr ? nullptr : &one->desc;
  }
  const CompileTimeTensorDesc* GetOptionalInputDesc(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Declared(declared, 0, loc, "GetOptionalInputDesc");
    return one == nullptr ? nullptr : &one->desc;
  }
  const CompileTimeTensorDesc* GetRequiredInputDesc(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetOptionalInputDesc(declared, loc);
  }
  const CompileTimeTensorDesc* GetDynamicInputDesc(size_t declared, size_t which,
                                                   gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Declared(declared, which, loc, "GetDynamicInputDesc");
    return one == nullptr ? nullptr : &one->desc;
  }
  const CompileTimeTensorDesc* GetOutputDesc(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Output(index, loc, "GetOutputDesc");
    return one == nullptr ? nullptr : &one->desc;
  }
  const Tensor* GetInputTensor(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Input(index, loc, "GetInputTensor");
    return one == nullptr ? nullptr : &one->tensor;
  }
  const Tensor* GetOptionalInputTensor(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Declared(declared, 0, loc, "GetOptionalInputTensor");
    return one == nullptr ? nullptr : &one->tensor;
  }
  const Tensor* GetRequiredInputTensor(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetOptionalInputTensor(declared, loc);
  }
  const Tensor* GetDynamicInputTensor(size_t declared, size_t which, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Declared(declared, which, loc, "GetDynamicInputTensor");
    return one == nullptr ? nullptr : &one->tensor;
  }

 protected:
  GntInstance* Input(size_t index, gn_twin::Loc loc, const char* name) const {
    gn_twin::op_host::At(loc, name);
    return index < call_->inputs.size() ? &call_->inputs[index] : nullptr;
  }
  GntInstance* Output(size_t index, gn_twin::Loc loc, const char* name) const {
    gn_twin::op_host::At(loc, name);
    return index < call_->outputs.size() ? &call_->outputs[index] : nullptr;
  }
  GntInstance* Declared(size_t declared, size_t which, gn_twin::Loc loc, const char* name) const {
    gn_twin::op_host::At(loc, name);
    for (GntInstance& one : call_->inputs) {
      if (one.declared == declared && which-- == 0) return &one;
    }
    return nullptr;
  }

  GntCall* call_;

 private:
  ComputeNodeInfo node_;
};
using ExtendedKernelContext = KernelContext;

// Bytes for the tiling data. SetDataSize says how many of them count.
class TilingData {
 public:
  explicit TilingData(GntCall& call) : call_(&call) {}
  void* GetData() { return call_->tiling_bytes.data(); }
  const void* GetData() const { return call_->tiling_bytes.data(); }
  size_t GetCapacity() const { return call_->tiling_bytes.size(); }
  size_t GetDataSize() const { return call_->tiling_size; }
  void SetDataSize(size_t bytes) { call_->tiling_size = bytes; }
  template <class T>
  ge::graphStatus Append(const T& value) {
    if (call_->tiling_bytes.size() - call_->tiling_size < sizeof(T)) return ge::GRAPH_FAILED;
    memcpy(call_->tiling_bytes.data() + call_->tiling_size, &value, sizeof(T));
    call_->tiling_size += sizeof(T);
    return ge::GRAPH_SUCCESS;
  }

 private:
  GntCall* call_;
};

class TilingContext : public KernelContext {
 public:
  explicit TilingContext(GntCall& call) : KernelContext(call), data_(call) {}

  const StorageShape* GetInputShape(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Input(index, loc, "GetInputShape");
    return one == nullptr ? nullptr : &one->shape;
  }
  const StorageShape* GetOptionalInputShape(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Declared(declared, 0, loc, "GetOptionalInputShape");
    return one == nullptr ? nullptr : &one->shape;
  }
  const StorageShape* GetRequiredInputShape(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetOptionalInputShape(declared, loc);
  }
  const StorageShape* GetDynamicInputShape(size_t declared, size_t which,
                                           gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Declared(declared, which, loc, "GetDynamicInputShape");
    return one == nullptr ? nullptr : &one->shape;
  }
  const StorageShape* GetOutputShape(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    const GntInstance* one = Output(index, loc, "GetOutputShape");
    return one == nullptr ? nullptr : &one->shape;
  }
  fe::PlatFormInfos* GetPlatformInfo() const { return &call_->platform; }
  template <class Info>
  const Info* GetCompileInfo() const {
    return static_cast<const Info*>(call_->compile_info.get());
  }
  const void* GetCompileInfo() const { return call_->compile_info.get(); }

  TilingData* GetRawTilingData(gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::op_host::At(loc, "GetRawTilingData");
    return &data_;
  }
  // Null where the capacity is too small.
  template <class T>
  T* GetTilingData(gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::op_host::At(loc, "GetTilingData");
    if (sizeof(T) > call_->tiling_bytes.size()) return nullptr;
    call_->tiling_size = sizeof(T);
    return reinterpret_cast<T*>(call_->tiling_bytes.data());
  }

  ge::graphStatus SetBlockDim(uint32_t blocks, gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::op_host::At(loc, "SetBlockDim");
    call_->blocks = blocks;
    call_->blocks_at = loc;
    return ge::GRAPH_SUCCESS;
  }
  ge::graphStatus SetSimdNumBlocks(uint32_t blocks, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return SetBlockDim(blocks, loc);
  }
  ge::graphStatus SetNumBlocks(uint32_t blocks, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return SetBlockDim(blocks, loc);
  }
  uint32_t GetBlockDim() const { return call_->blocks == GntCall::kUnset ? 0 : call_->blocks; }
  uint32_t GetSimdNumBlocks() const { return GetBlockDim(); }
  ge::graphStatus SetTilingKey(uint64_t key, gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::op_host::At(loc, "SetTilingKey");
    call_->key = key;
    call_->key_set = true;
    return ge::GRAPH_SUCCESS;
  }
  uint64_t GetTilingKey() const { return call_->key; }
  ge::graphStatus SetScheduleMode(uint32_t mode) { return call_->schedule_mode = mode, ge::GRAPH_SUCCESS; }
  uint32_t GetScheduleMode() const { return call_->schedule_mode; }
  ge::graphStatus SetLocalMemorySize(uint32_t bytes) { return call_->local_memory = bytes, ge::GRAPH_SUCCESS; }
  uint32_t GetLocalMemorySize() const { return call_->local_memory; }
  ge::graphStatus SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetTilingCond(int32_t) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetAicpuBlockDim(uint32_t) { return ge::GRAPH_SUCCESS; }
  // Sizes of `many` workspaces, for the caller to fill in; an operator has one.
  size_t* GetWorkspaceSizes(size_t many, gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::op_host::At(loc, "GetWorkspaceSizes");
    constexpr size_t kMost = 16;
    if (many > kMost) return nullptr;
    call_->workspace_asked = true;
    call_->workspaces.reserve(kMost);
    call_->workspaces.resize(many, SIZE_MAX);
    return call_->workspaces.data();
  }
  size_t GetWorkspaceNum() const { return call_->workspaces.size(); }

 private:
  TilingData data_;
};

class TilingParseContext : public KernelContext {
 public:
  using KernelContext::KernelContext;
  fe::PlatFormInfos* GetPlatformInfo() const { return &call_->platform; }
  template <class Info>
  Info* GetCompiledInfo() const {
    return static_cast<Info*>(call_->compile_info.get());
  }
  const char* GetCompiledJson() const { return "{}"; }
};

class InferShapeContext : public KernelContext {
 public:
  using KernelContext::KernelContext;
  const Shape* GetInputShape(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Input(index, loc, "GetInputShape"));
  }
  const Shape* GetOptionalInputShape(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetOptionalInputShape"));
  }
  const Shape* GetRequiredInputShape(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetRequiredInputShape"));
  }
  const Shape* GetDynamicInputShape(size_t declared, size_t which, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, which, loc, "GetDynamicInputShape"));
  }
  Shape* GetOutputShape(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) {
    GntInstance* one = Output(index, loc, "GetOutputShape");
    return one == nullptr ? nullptr : &one->shape.MutableOriginShape();
  }

 private:
  static const Shape* Of(const GntInstance* one) { return one == nullptr ? nullptr : &one->shape.GetOriginShape(); }
};

class InferDataTypeContext : public KernelContext {
 public:
  using KernelContext::KernelContext;
  // Of an input that is not there DT_UNDEFINED.
  ge::DataType GetInputDataType(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Input(index, loc, "GetInputDataType"));
  }
  ge::DataType GetOptionalInputDataType(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetOptionalInputDataType"));
  }
  ge::DataType GetRequiredInputDataType(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetRequiredInputDataType"));
  }
  ge::DataType GetDynamicInputDataType(size_t declared, size_t which, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, which, loc, "GetDynamicInputDataType"));
  }
  ge::DataType GetOutputDataType(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Output(index, loc, "GetOutputDataType"));
  }
  ge::graphStatus SetOutputDataType(size_t index, ge::DataType type, gn_twin::Loc loc = gn_twin::Loc::here()) {
    GntInstance* one = Output(index, loc, "SetOutputDataType");
    if (one == nullptr) return ge::GRAPH_FAILED;
    one->desc = CompileTimeTensorDesc(type, one->desc.GetOriginFormat());
    return ge::GRAPH_SUCCESS;
  }

 private:
  static ge::DataType Of(const GntInstance* one) { return one == nullptr ? ge::DT_UNDEFINED : one->desc.GetDataType(); }
};

}  // namespace gert
