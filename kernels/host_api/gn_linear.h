/* Linear and its gradients. Each comment names the registered kernel that is launched. */
#ifndef GN_LINEAR_H
#define GN_LINEAR_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out = input * weight^T + bias for the last axis of input, on the vector unit; sums are float32. input: (..., K) of 1 to 8 axes;
 * float32, float16 or bfloat16. weight: (O, K), bias: (O) or null for zeros, out: (..., O), all of input's type. At most 2147483647
 * rows of input, K and O at most 536870912. out must not share memory with an input.
 * Kernel: linear/lanes. */
GN_API GnStatus LinearGetWorkspaceSize(const GnTensor* input, const GnTensor* weight, const GnTensor* bias,
                                       GnTensor* out, uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus Linear(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of Linear. gradOut: (..., O), input: (..., K), weight: (O, K), as in the forward pass and of one type. outputMask: three
 * bytes, whether gradInput (as input), gradWeight (as weight) and gradBias (O) are wanted; one that is not wanted may be null and is
 * not touched.
 * Kernel: linear_backward/rows. */
GN_API GnStatus LinearBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* input, const GnTensor* weight,
                                               const uint8_t* outputMask, uint64_t outputMaskSize, GnTensor* gradInput,
                                               GnTensor* gradWeight, GnTensor* gradBias, uint64_t* workspaceSize,
                                               GnExecutor** executor);

GN_API GnStatus LinearBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_LINEAR_H */
