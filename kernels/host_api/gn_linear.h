/* Linear and its gradients, alone and with GELU behind it. Each comment names the registered kernel that is launched. */
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

/* out = GELU(input * weight^T + bias), in one launch. approximate: 0 for GELU as it is defined, with erf, 1 for its tanh form.
 * preactivationOut: what GELU is applied to, for LinearGeluBackward, rounded to the type; null if nobody needs it. The other arguments as
 * in Linear. The outputs must not share memory with an input or with each other.
 * Kernel: linear_gelu/epilogue. */
GN_API GnStatus LinearGeluGetWorkspaceSize(const GnTensor* input, const GnTensor* weight, const GnTensor* bias,
                                           int64_t approximate, GnTensor* out, GnTensor* preactivationOut,
                                           uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus LinearGelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of LinearGelu. preactivation: as it gave it, (..., O). The other arguments as in LinearBackward.
 * Kernel: linear_gelu_backward/slope. */
GN_API GnStatus LinearGeluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* preactivation,
                                                   const GnTensor* input, const GnTensor* weight, int64_t approximate,
                                                   const uint8_t* outputMask, uint64_t outputMaskSize,
                                                   GnTensor* gradInput, GnTensor* gradWeight, GnTensor* gradBias,
                                                   uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus LinearGeluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_LINEAR_H */
