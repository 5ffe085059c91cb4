/* GroupNorm, GELU and Linear for a host program: two calls an operator, on a stream. The C interface; docs/host-api.md explains it.
 *
 * First call: GroupNormGetWorkspaceSize checks every argument, plans the launches, and returns how many bytes of workspace they need and
 * an executor. Second call: GroupNorm puts the executor's work on a stream and returns at once. What goes wrong there is returned by
 * GnSynchronizeStream. The aclnn interfaces of CANN work the same way, and the return codes are theirs.
 *
 * Every function may be called from any thread. Memory is the caller's: what tensors and workspace point to must stay until the stream
 * has been synchronised; the descriptors themselves may be destroyed right after the first call. */
#ifndef GN_HOST_API_H
#define GN_HOST_API_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GN_API __attribute__((visibility("default")))

/* Return codes. The numbers are those of aclnn, so that a program that knows one knows the other. */
typedef int32_t GnStatus;
enum {
  GN_SUCCESS = 0,
  GN_ERR_PARAM_NULLPTR = 161001,    /* a pointer that must not be null is null */
  GN_ERR_PARAM_INVALID = 161002,    /* any other argument that is refused */
  GN_ERR_RUNTIME = 361001,          /* a launch failed: from GnSynchronizeStream and GnDestroyStream */
  GN_ERR_INNER = 561000,            /* no memory, no thread */
  GN_ERR_INNER_TILING = 561002,     /* the shape is valid, but no way to divide it is known */
  GN_ERR_INNER_FIND_KERNEL = 561003 /* the library of a kernel is missing or does not fit */
};

/* Element types, numbered as aclDataType. Tensors of other types can be described, and every operator here refuses them. */
typedef int32_t GnDataType;
enum { GN_FLOAT = 0, GN_FLOAT16 = 1, GN_BF16 = 27 };

typedef struct GnTensor GnTensor;
typedef struct GnExecutor GnExecutor;
typedef struct GnStream GnStream;

/* Why the last call of this thread that failed did so: what, then lines "  where: " and "  hint:  ". Null if none has failed since the
 * last question. The text is valid until this thread asks again. */
GN_API const char* GnGetRecentErrMsg(void);

/* Describes a tensor: viewDims[i] elements along axis i, stride[i] elements apart, the first one `offset` elements behind tensorData,
 * which begins storage of storageDims elements. At most 8 axes; no number negative; the view must lie inside the storage. */
GN_API GnStatus GnCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, GnDataType dataType,
                               const int64_t* stride, int64_t offset, const int64_t* storageDims,
                               uint64_t storageDimsNum, void* tensorData, GnTensor** tensor);
GN_API GnStatus GnDestroyTensor(GnTensor* tensor);

/* A queue with a thread of its own: what is put on it runs in order, beside what is on other streams. */
GN_API GnStatus GnCreateStream(GnStream** stream);
/* Waits for everything that was put on the stream before this call. Returns the first error since the last one was returned. */
GN_API GnStatus GnSynchronizeStream(GnStream* stream);
/* Waits as GnSynchronizeStream does and returns what it would; the stream is gone either way. */
GN_API GnStatus GnDestroyStream(GnStream* stream);
/* Calls fn(args) on the stream's thread, in its order; returns at once. fn must not wait for this stream or destroy it. */
typedef void (*GnHostFunc)(void* args);
GN_API GnStatus GnLaunchHostFunc(GnStream* stream, GnHostFunc fn, void* args);

/* Gives an executor back that will not be used. The second call does so itself. */
GN_API GnStatus GnDestroyExecutor(GnExecutor* executor);

/* out = (self - mean) / sqrt(variance + eps) * gamma + beta, statistics over each of `group` groups of channels.
 * self: (N, C, ...) of 2 to 8 axes, HxW the product of all behind the second (1 if there are none); float32, float16 or bfloat16.
 * gamma, beta: (C), of self's type, or null for ones and zeros. out: as self. meanOut, rstdOut: (N, group), float32.
 * group divides C; eps is positive. Outputs must not share memory with each other or with an input. */
GN_API GnStatus GroupNormGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta, int64_t N,
                                          int64_t C, int64_t HxW, int64_t group, double eps, GnTensor* out,
                                          GnTensor* meanOut, GnTensor* rstdOut, uint64_t* workspaceSize,
                                          GnExecutor** executor);
/* Puts the executor's work on the stream. workspace: workspaceSize bytes on the device, at least as many as the first call said; null if
 * that was 0. An executor is used once; after a refusal it can still be used. */
GN_API GnStatus GroupNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The same, and SiLU of it: out = g / (1 + exp(-g)), with g what GroupNorm would return. N, C and HxW are read from self. */
GN_API GnStatus GroupNormSiluGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta,
                                              int64_t group, double eps, GnTensor* out, GnTensor* meanOut,
                                              GnTensor* rstdOut, uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus GroupNormSilu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of GroupNorm. gradOut, input: N * C * HxW elements of one type, 0 to 8 axes. mean, rstd: what the forward pass returned,
 * N * group elements, float32. gamma: C elements of input's type, or null for ones. outputMask: three bytes, whether gradInput (as
 * input), gradGammaOut and gradBetaOut (as gamma) are wanted; one that is not wanted may be null and is not touched. */
GN_API GnStatus GroupNormBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* input, const GnTensor* mean,
                                                  const GnTensor* rstd, const GnTensor* gamma, int64_t N, int64_t C,
                                                  int64_t HxW, int64_t group, const uint8_t* outputMask,
                                                  uint64_t outputMaskSize, GnTensor* gradInput, GnTensor* gradGammaOut,
                                                  GnTensor* gradBetaOut, uint64_t* workspaceSize,
                                                  GnExecutor** executor);

GN_API GnStatus GroupNormBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* out = self / 2 * (1 + tanh(sqrt(2 / pi) * (self + 0.044715 self^3))), element by element: GELU in its tanh form. self: 0 to 8 axes;
 * float32, float16 or bfloat16; at most 2147483647 elements. out: as self. They must not share memory. */
GN_API GnStatus GeluGetWorkspaceSize(const GnTensor* self, GnTensor* out, uint64_t* workspaceSize,
                                     GnExecutor** executor);

GN_API GnStatus Gelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradient of Gelu: gradInput = gradOut * Gelu'(self). self: the input of the forward pass. gradOut, gradInput: as self. */
GN_API GnStatus GeluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* self, GnTensor* gradInput,
                                             uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus GeluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* out = input * weight^T + bias for the last axis of input, on the vector unit; sums are float32. input: (..., K) of 1 to 8 axes;
 * float32, float16 or bfloat16. weight: (O, K), bias: (O) or null for zeros, out: (..., O), all of input's type. At most 2147483647
 * rows of input, K and O at most 536870912. out must not share memory with an input. */
GN_API GnStatus LinearGetWorkspaceSize(const GnTensor* input, const GnTensor* weight, const GnTensor* bias,
                                       GnTensor* out, uint64_t* workspaceSize, GnExecutor** executor);

GN_API GnStatus Linear(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* The gradients of Linear. gradOut: (..., O), input: (..., K), weight: (O, K), as in the forward pass and of one type. outputMask: three
 * bytes, whether gradInput (as input), gradWeight (as weight) and gradBias (O) are wanted; one that is not wanted may be null and is
 * not touched. */
GN_API GnStatus LinearBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* input, const GnTensor* weight,
                                               const uint8_t* outputMask, uint64_t outputMaskSize, GnTensor* gradInput,
                                               GnTensor* gradWeight, GnTensor* gradBias, uint64_t* workspaceSize,
                                               GnExecutor** executor);

GN_API GnStatus LinearBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream);

/* Vector cores that work is divided among. */
GN_API uint32_t GnVectorCores(void);

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_API_H */
