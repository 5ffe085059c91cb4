// The launchers of kernels: the only place where a kernel's name meets <<<>>>.
//
// A launcher, gn_launch_<kernel>, is compiled by CANN's compiler, together with its kernel, in the .asc file of that name; the rest of
// the library is plain C++. `args` are the kernel's parameters in their order: an address on the device, or, of a number, where it is on
// the host, which the launcher reads before it returns. `stream` is an aclrtStream.
#pragma once
#include <cstdint>

using GnLauncher = void (*)(uint32_t blocks, void* stream, void* const* args);

struct GnLaunchable {
  const char* entry;
  uint32_t arguments;
  GnLauncher launch;
};

// A row for each .asc file, written by sources.cmake; the last one is empty.
extern const GnLaunchable kGnLaunchables[];

// A parameter that goes to the kernel by value.
inline uint32_t GnNumber(const void* arg) { return *static_cast<const uint32_t*>(arg); }
