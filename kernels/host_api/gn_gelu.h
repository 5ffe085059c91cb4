/* GELU and its gradient. Each comment names the registered kernel that is launched.
 *
 * The calls without V2 compute the tanh form, as aclnnGelu. Those with V2 have the attribute `approximate`, as CANN's: a number in the
 * forward pass, a word in the backward pass. */
#ifndef GN_GELU_H
#define GN_GELU_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out = self / 2 * (1 + tanh(sqrt(2 / pi) * (self + 0.044715 self^3))), element by element: GELU in its tanh form. self: 0 to 8 axes;
 * float32, float16 or bfloat16; at most 2147483647 elements. out: as self. They must not share memory.
 * Kernel: gelu/queue. */
GN_API GnStatus GeluGetWorkspaceSize(const GnTensor* self, GnTensor* out, uint64_t* workspaceSize,
                                     GnExecutor** executor);

GN_API GnStatus Gelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* y = x * Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2, element by element: GELU as it is defined. approximate: 0 for that, 1 for the tanh
 * form, which is Gelu. x, y: as self and out there.
 * Kernel: gelu/queue. */
GN_API GnStatus GeluV2GetWorkspaceSize(const GnTensor* x, int64_t approximate, GnTensor* y, uint64_t* workspaceSize,
                                       GnExecutor** executor);

GN_API GnStatus GeluV2(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradient of Gelu: gradInput = gradOut * Gelu'(self). self: the input of the forward pass. gradOut, gradInput: as self.
 * Kernel: gelu_backward/queue. */
GN_API GnStatus GeluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* self, GnTensor* gradInput,
                                             uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus GeluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradient of GeluV2, as GeluBackward. approximate: "none" or "tanh", ended by a zero; it is not kept.
 * Kernel: gelu_backward/queue. */
GN_API GnStatus GeluBackwardV2GetWorkspaceSize(const GnTensor* gradOutput, const GnTensor* self,
                                               const char* approximate, GnTensor* gradInput, uint64_t* workspaceSize,
                                               GnExecutor** executor);

GN_API GnStatus GeluBackwardV2(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_GELU_H */
