// Functions of operator repositories (Ops::Base) that return sizes of Atlas A2 to kernels, in bytes.
//
// Source: opbase, op_common, op_kernel/platform_util. The sizes are a block of the Unified Buffer and a vector repeat.
#pragma once
#include <stdint.h>

namespace Ops::Base {

constexpr uint32_t GetUbBlockSize() { return 32; }
constexpr uint32_t GetVRegSize() { return 256; }

}  // namespace Ops::Base
