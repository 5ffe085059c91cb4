// One call of an operator: its inputs, outputs, attributes and chip, and the results of tiling. All contexts are views
// of this call.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "gn_twin/op_host/attributes.h"
#include "gn_twin/op_host/platform_infos.h"
#include "gn_twin/op_host/shape.h"

namespace gert {

// One input or output of the call. `declared`: the index of its declaration.
struct GntInstance {
  size_t declared;
  StorageShape shape;
  CompileTimeTensorDesc desc;
  Tensor tensor;
};

// The data of the call, which the driver fills in.
struct GntCall {
  std::string type, name;
  std::deque<GntInstance> inputs, outputs;  // a deque, so that references stay valid
  size_t declared_inputs = 0, declared_outputs = 0;
  RuntimeAttrs attributes;
  bool deterministic = false;
  fe::PlatFormInfos platform;
  std::shared_ptr<void> compile_info;

  // The results of tiling. kUnset: tiling did not set the number of blocks.
  static constexpr uint32_t kUnset = 0xffffffff;
  uint32_t blocks = kUnset;
  gn_twin::Loc blocks_at;
  uint64_t key = 0;
  bool key_set = false;
  bool workspace_asked = false;
  std::vector<size_t> workspaces;
  static constexpr size_t kMostTilingBytes = 64 * 1024;
  std::vector<uint8_t> tiling_bytes;  // reserved to kMostTilingBytes, so that pointers stay valid
  bool tiling_grows = false;
  size_t tiling_size = 0;
  uint32_t schedule_mode = 0, local_memory = 0;
};

}  // namespace gert
