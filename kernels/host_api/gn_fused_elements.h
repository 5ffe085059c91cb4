/* Element-wise fusions and their gradients: Add with ReLU, and SwiGLU. Each comment names the registered kernel that is launched. */
#ifndef GN_FUSED_ELEMENTS_H
#define GN_FUSED_ELEMENTS_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out = max(self + other, 0), element by element, in one launch. self: 0 to 8 axes; float32, float16 or bfloat16; at most 2147483647
 * elements. other, out: as self. The output must not share memory with an input.
 * Kernel: add_relu/chain. */
GN_API GnStatus AddReluGetWorkspaceSize(const GnTensor* self, const GnTensor* other, GnTensor* out,
                                        uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus AddRelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradient of AddRelu, of both its inputs: gradInput = gradOut where result is above 0, and 0 elsewhere. result: what AddRelu gave.
 * gradOut, gradInput: as result.
 * Kernel: add_relu_backward/map. */
GN_API GnStatus AddReluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* result, GnTensor* gradInput,
                                                uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus AddReluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* out = gate / (1 + e^-gate) * up, element by element, in one launch. gate: as self of AddRelu. up, out: as gate.
 * Kernel: swiglu/chain. */
GN_API GnStatus SwiGluGetWorkspaceSize(const GnTensor* gate, const GnTensor* up, GnTensor* out, uint64_t* workspaceSize,
                                       GnExecutor** executor);

GN_API GnStatus SwiGlu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of SwiGlu. gate, up: the inputs of the forward pass. gradOut, gradGate, gradUp: as gate.
 * Kernel: swiglu_backward/map. */
GN_API GnStatus SwiGluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* gate, const GnTensor* up,
                                               GnTensor* gradGate, GnTensor* gradUp, uint64_t* workspaceSize,
                                               GnExecutor** executor);

GN_API GnStatus SwiGluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_FUSED_ELEMENTS_H */
