/* GroupNorm, alone and with SiLU behind it, and its gradients. Each comment names the registered kernel that is launched. */
#ifndef GN_GROUP_NORM_H
#define GN_GROUP_NORM_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out = (self - mean) / sqrt(variance + eps) * gamma + beta, statistics over each of `group` groups of channels.
 * self: (N, C, ...) of 2 to 8 axes, HxW the product of all behind the second (1 if there are none); float32, float16 or bfloat16.
 * gamma, beta: (C), of self's type, or null for ones and zeros. out: as self. meanOut, rstdOut: (N, group), float32, or both of
 * self's type: then they are rounded behind the kernel, which costs a launch each, and what is lost comes into the gradients.
 * group divides C; eps is positive. Outputs must not share memory with each other or with an input.
 * Tensors with the channels last have a kernel of their own. Kernel: group_norm/any, group_norm_nhwc/rows, narrow/half, narrow/bfloat16. */
GN_API GnStatus GroupNormGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta, int64_t N,
                                          int64_t C, int64_t HxW, int64_t group, double eps, GnTensor* out,
                                          GnTensor* meanOut, GnTensor* rstdOut, uint64_t* workspaceSize,
                                          GnExecutor** executor);

GN_API GnStatus GroupNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The same, and SiLU of it: out = g / (1 + exp(-g)), with g what GroupNorm would return. N, C and HxW are read from self.
 * Kernel: group_norm_silu/fused, group_norm_silu_nhwc/rows, narrow/half, narrow/bfloat16. */
GN_API GnStatus GroupNormSiluGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta,
                                              int64_t group, double eps, GnTensor* out, GnTensor* meanOut,
                                              GnTensor* rstdOut, uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus GroupNormSilu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of GroupNorm. gradOut, input: N * C * HxW elements of one type, 0 to 8 axes. mean, rstd: what the forward pass returned,
 * N * group elements, float32 or both of gradOut's type. gamma: C elements of input's type, or null for ones. outputMask: three bytes,
 * whether gradInput (as input), gradGammaOut and gradBetaOut (as gamma) are wanted; one that is not wanted may be null and is not touched.
 * Kernel: group_norm_backward/any, group_norm_backward_nhwc/rows, widen/queue. */
GN_API GnStatus GroupNormBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* input, const GnTensor* mean,
                                                  const GnTensor* rstd, const GnTensor* gamma, int64_t N, int64_t C,
                                                  int64_t HxW, int64_t group, const uint8_t* outputMask,
                                                  uint64_t outputMaskSize, GnTensor* gradInput, GnTensor* gradGammaOut,
                                                  GnTensor* gradBetaOut, uint64_t* workspaceSize,
                                                  GnExecutor** executor);

GN_API GnStatus GroupNormBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of GroupNormSilu. beta: C elements of input's type, or null for zeros; the other arguments as above. Tensors with the
 * channels last are packed first, which takes longer than all else: for them the parts pay. Not in CANN. Kernel: group_norm_silu_backward/fused, widen/queue. */
GN_API GnStatus GroupNormSiluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* input,
                                                      const GnTensor* mean, const GnTensor* rstd, const GnTensor* gamma,
                                                      const GnTensor* beta, int64_t N, int64_t C, int64_t HxW,
                                                      int64_t group, const uint8_t* outputMask, uint64_t outputMaskSize,
                                                      GnTensor* gradInput, GnTensor* gradGammaOut,
                                                      GnTensor* gradBetaOut, uint64_t* workspaceSize,
                                                      GnExecutor** executor);

GN_API GnStatus GroupNormSiluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_GROUP_NORM_H */
