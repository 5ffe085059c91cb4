// The base of all contexts of host functions: the operator as a node of a graph, its inputs, outputs and attributes.
//
// A getter of a pointer returns null if there is no input or output at the index, as on a device's host; the address of
// a tensor without data is null, too. GetOptional..., GetRequired..., GetDynamic... and ...InstanceInfo take the index
// of the declaration. The others take the index of the instance, which counts only inputs or outputs that are present.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <deque>

#include "gn_twin/op_host/notes.h"
#include "gn_twin/op_host/operator_call.h"

namespace gert {

class GntInstanceInfo {
 public:
  GntInstanceInfo(size_t start, size_t many) : start_(start), many_(many) {}
  size_t GetInstanceStart() const { return start_; }
  size_t GetInstanceNum() const { return many_; }

 private:
  size_t start_, many_;
};
using AnchorInstanceInfo = GntInstanceInfo;

// The operator as a node of a graph: its names and attributes, and its actual inputs and outputs.
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
  size_t GetIrOutputsNum() const { return call_->declared_outputs; }
  const GntInstanceInfo* GetInputInstanceInfo(size_t declared) const {
    return declared < call_->declared_inputs ? InfoOf(call_->inputs, declared) : nullptr;
  }
  const GntInstanceInfo* GetOutputInstanceInfo(size_t declared) const {
    return declared < call_->declared_outputs ? InfoOf(call_->outputs, declared) : nullptr;
  }

 private:
  const GntInstanceInfo* InfoOf(const std::deque<GntInstance>& instances, size_t declared) const {
    size_t start = 0, many = 0;
    for (const GntInstance& one : instances) {
      start += one.declared < declared;
      many += one.declared == declared;
    }
    infos_.push_back({start, many});
    return &infos_.back();
  }

  const GntCall* call_;
  mutable std::deque<GntInstanceInfo> infos_;
};

// The common part of all contexts.
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
  const GntInstanceInfo* GetIrOutputInstanceInfo(size_t declared) const {
    return node_.GetOutputInstanceInfo(declared);
  }
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

}  // namespace gert
