// The launchers of ../launchers.h for CANN before 8.5: ACLRT_LAUNCH_KERNEL where the .asc files have <<<>>>.
#include "launchers.h"

#include "aclrtlaunch_group_norm_any.h"
#include "aclrtlaunch_group_norm_silu.h"
#include "aclrtlaunch_group_norm_backward_any.h"
#include "aclrtlaunch_gelu_kernel.h"
#include "aclrtlaunch_gelu_backward_kernel.h"
#include "aclrtlaunch_linear_kernel.h"
#include "aclrtlaunch_linear_backward_kernel.h"
#include "aclrtlaunch_strided_copy.h"

extern "C" void gn_launch_group_norm_any(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(group_norm_any)(blocks, stream, args[0], args[1], args[2], args[3], args[4], args[5], args[6],
                                      args[7]);
}

extern "C" void gn_launch_group_norm_silu(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(group_norm_silu)(blocks, stream, args[0], args[1], args[2], args[3], args[4], args[5], args[6],
                                       args[7]);
}

extern "C" void gn_launch_group_norm_backward_any(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(group_norm_backward_any)(blocks, stream, args[0], args[1], args[2], args[3], args[4], args[5],
                                               args[6], args[7], args[8], args[9]);
}

extern "C" void gn_launch_gelu_kernel(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(gelu_kernel)(blocks, stream, args[0], args[1], GnNumber(args[2]), GnNumber(args[3]));
}

extern "C" void gn_launch_gelu_backward_kernel(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(gelu_backward_kernel)(blocks, stream, args[0], args[1], args[2], GnNumber(args[3]),
                                            GnNumber(args[4]));
}

extern "C" void gn_launch_linear_kernel(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(linear_kernel)(blocks, stream, args[0], args[1], args[2], args[3], args[4]);
}

extern "C" void gn_launch_linear_backward_kernel(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(linear_backward_kernel)(blocks, stream, args[0], args[1], args[2], args[3], args[4], args[5],
                                              args[6]);
}

extern "C" void gn_launch_strided_copy(uint32_t blocks, void* stream, void* const* args) {
  ACLRT_LAUNCH_KERNEL(strided_copy)(blocks, stream, args[0], args[1], args[2]);
}
