/* RMSNorm, also of a sum, and the gradients of both. Each comment names the registered kernel that is launched. */
#ifndef GN_RMS_NORM_H
#define GN_RMS_NORM_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* yOut = x * rstdOut * gamma with rstdOut = 1 / sqrt(mean(x * x) + epsilon), the mean over the axes of gamma, which are the last of x.
 * x: 1 to 8 axes; float32, float16 or bfloat16. gamma: x's type and the last axes of x, one to all of them, not empty. yOut: as x.
 * rstdOut: float32, as many axes as x, those of gamma 1 long. epsilon is positive; 1e-6 is usual. Outputs must not share memory with each
 * other or with an input. The axes of gamma are one row; at most 2147483647 rows, and elements in each.
 * Kernel: rms_norm/row. */
GN_API GnStatus RmsNormGetWorkspaceSize(const GnTensor* x, const GnTensor* gamma, double epsilon, GnTensor* yOut,
                                        GnTensor* rstdOut, uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus RmsNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of RmsNorm. dy, x: one shape, one type. rstd: what the forward pass returned, float32, also without the axes of length 1
 * at its end. gamma: as there. dxOut: as x. dgammaOut: of the shape of gamma, and float32 for every type of x, since it is a sum over all
 * rows. Elements in a row at most 536870911, in all at most about 2^36.
 * Kernel: rms_norm_backward/chunks. */
GN_API GnStatus RmsNormGradGetWorkspaceSize(const GnTensor* dy, const GnTensor* x, const GnTensor* rstd,
                                            const GnTensor* gamma, GnTensor* dxOut, GnTensor* dgammaOut,
                                            uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus RmsNormGrad(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* RmsNorm of a sum: xOut = x1 + x2, rounded to their type, and yOut, rstdOut as RmsNorm computes them from xOut. x1, x2: one shape, one
 * type. yOut, xOut: as x1. The rest, and the limits: as RmsNorm. aclnnAddRmsNorm takes a null rstdOut in some cases; this does not.
 * Kernel: add_rms_norm/row. */
GN_API GnStatus AddRmsNormGetWorkspaceSize(const GnTensor* x1, const GnTensor* x2, const GnTensor* gamma,
                                           double epsilon, GnTensor* yOut, GnTensor* rstdOut, GnTensor* xOut,
                                           uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus AddRmsNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of AddRmsNorm: dxOut, which is that of x1 and of x2, is RmsNormGrad's plus dsum. dy: the gradient of yOut. dsum: that of
 * xOut, as x. x: the forward pass's xOut. The rest: as RmsNormGrad.
 * Kernel: add_rms_norm_backward/chunks. */
GN_API GnStatus AddRmsNormGradGetWorkspaceSize(const GnTensor* dy, const GnTensor* dsum, const GnTensor* x,
                                               const GnTensor* rstd, const GnTensor* gamma, GnTensor* dxOut,
                                               GnTensor* dgammaOut, uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus AddRmsNormGrad(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_RMS_NORM_H */
