/* Host programs put operators of this course on a stream, two calls an operator. The C interface; docs/host-api.md explains it.
 *
 * Here is what all operators share. Each has a header of its own beside this one, as in CANN's aclnnop folder: gn_group_norm.h,
 * gn_gelu.h and so on; a program includes those that it calls.
 *
 * First call: <Operator>GetWorkspaceSize checks every argument, plans the launches, and returns how many bytes of workspace they need
 * and an executor. Second call: <Operator> puts the executor's work on a stream and returns at once. What goes wrong there is returned
 * by GnSynchronizeStream. The aclnn interfaces of CANN work the same way, and the return codes are theirs.
 *
 * The second calls are alike: workspace is workspaceSize bytes on the device, at least as many as the first call said; null if that was
 * 0. An executor is used once, unless GnSetExecutorRepeatable says otherwise; after a refusal it can still be used.
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

/* Gives an executor back that will not be used, or not any more. The second call does so itself, unless it is repeatable. */
GN_API GnStatus GnDestroyExecutor(GnExecutor* executor);
/* Lets an executor be used again and again, with tensors of the same shapes, strides and types at other addresses: so nothing is checked
 * and planned twice. To be called right after the first call. tensors: `count` of those that the first call was given, in any order, null
 * for one that was not; it is enough that they were there then. */
GN_API GnStatus GnSetExecutorRepeatable(GnExecutor* executor, const GnTensor** tensors, uint64_t count);
/* The second call of a repeatable executor: tensorData[i] takes the place of the tensorData that tensors[i] was described with. The
 * executor is not changed, so several threads may run it at once, each with its own workspace. */
GN_API GnStatus GnRunExecutor(GnExecutor* executor, void** tensorData, uint64_t count, void* workspace,
                              uint64_t workspaceSize, GnStream* stream);

/* Vector cores that work is divided among. */
GN_API uint32_t GnVectorCores(void);

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_API_H */
