// The contexts of TilingFunc and TilingParse.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gn_twin/op_host/kernel_context.h"
#include "gn_twin/op_host/tiling_classes.h"

namespace gert {

// The buffer of the tiling data. SetDataSize sets how many of its bytes are used.
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
  // Returns the tiling data as the kernel's own struct; null if the capacity is too small. The kernel's build reserves
  // memory for the struct (see HostCall::Room), so the capacity may grow here.
  template <class T>
  T* GetTilingData(gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::op_host::At(loc, "GetTilingData");
    if (sizeof(T) > call_->tiling_bytes.size()) {
      if (!call_->tiling_grows || sizeof(T) > GntCall::kMostTilingBytes) return nullptr;
      call_->tiling_bytes.resize((sizeof(T) + 7) / 8 * 8, gn_twin::op_host::FillByte());
    }
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
  // Returns the sizes of `many` workspaces, for the caller to fill in; null for more than 16. An operator has one
  // workspace.
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

}  // namespace gert
