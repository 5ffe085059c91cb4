// One launcher for each kernel that the host API launches: the only place where a kernel's name meets <<<>>>.
//
// A launcher is compiled by CANN's compiler, together with its kernel, in the .asc file of that name; the rest of the library is plain
// C++. `args` are the kernel's parameters in their order: an address on the device, or, of a number, where it is on the host, which the
// launcher reads before it returns. `stream` is an aclrtStream.
#pragma once
#include <cstdint>

using GnLauncher = void (*)(uint32_t blocks, void* stream, void* const* args);

extern "C" {
void gn_launch_group_norm_any(uint32_t blocks, void* stream, void* const* args);
void gn_launch_group_norm_silu(uint32_t blocks, void* stream, void* const* args);
void gn_launch_group_norm_backward_any(uint32_t blocks, void* stream, void* const* args);
void gn_launch_gelu_kernel(uint32_t blocks, void* stream, void* const* args);
void gn_launch_gelu_backward_kernel(uint32_t blocks, void* stream, void* const* args);
void gn_launch_linear_kernel(uint32_t blocks, void* stream, void* const* args);
void gn_launch_linear_backward_kernel(uint32_t blocks, void* stream, void* const* args);
void gn_launch_strided_copy(uint32_t blocks, void* stream, void* const* args);
}

struct GnLaunchable {
  const char* entry;
  uint32_t arguments;
  GnLauncher launch;
};

inline constexpr GnLaunchable kGnLaunchables[] = {
    {"group_norm_any", 8, gn_launch_group_norm_any},
    {"group_norm_silu", 8, gn_launch_group_norm_silu},
    {"group_norm_backward_any", 10, gn_launch_group_norm_backward_any},
    {"gelu_kernel", 4, gn_launch_gelu_kernel},
    {"gelu_backward_kernel", 5, gn_launch_gelu_backward_kernel},
    {"linear_kernel", 5, gn_launch_linear_kernel},
    {"linear_backward_kernel", 7, gn_launch_linear_backward_kernel},
    {"strided_copy", 3, gn_launch_strided_copy},
};

// A parameter that goes to the kernel by value.
inline uint32_t GnNumber(const void* arg) { return *static_cast<const uint32_t*>(arg); }
