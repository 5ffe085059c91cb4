// Sizes for kernels of operator repositories (Ops::Base): in bytes, of Atlas A2.
//
// Source: opbase, op_common, op_kernel/platform_util: a block of the Unified Buffer, and the size of a vector repeat.
#pragma once
#include <stdint.h>

namespace Ops::Base {

constexpr uint32_t GetUbBlockSize() { return 32; }
constexpr uint32_t GetVRegSize() { return 256; }

}  // namespace Ops::Base
