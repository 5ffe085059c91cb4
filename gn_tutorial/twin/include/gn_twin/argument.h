// Which kernel argument an address in global memory belongs to.
#pragma once
#include "gn_twin/core.h"

namespace gn_twin {

// The kernel argument that an address belongs to. An address just past the end belongs to the argument before it: a block that
// has nothing to do may point there.
inline const GntArg* ArgumentAt(const Core& core, const void* address) {
  const uint8_t* at = static_cast<const uint8_t*>(address);
  const GntArg* nearest = nullptr;
  for (uint32_t i = 0; i < core.job->arg_count; ++i) {
    const GntArg& arg = core.job->args[i];
    if (arg.kind != GNT_TENSOR || at < arg.data) continue;
    if (nearest == nullptr || arg.data >= nearest->data) nearest = &arg;
    if (at < arg.data + arg.bytes) return &arg;
  }
  return nearest;
}

inline const char* NameOf(const GntArg* arg) { return arg != nullptr && arg->name != nullptr ? arg->name : "?"; }

}  // namespace gn_twin
