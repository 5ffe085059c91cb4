/* What only the NPU's build of the host API has: streams that somebody else made, and launches without a plan. A C
 * header, like gn_host_api.h.
 * Written from the public documentation of CANN; nothing here was run on an NPU. */
#ifndef GN_HOST_NPU_H
#define GN_HOST_NPU_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream handle for an aclrtStream, which stays its maker's: GnDestroyStream waits for its work and does not destroy it. The calling
 * thread must have the stream's device as its current one. Operators are put into the queue of `aclrt_stream` by the thread that makes
 * their second call, behind whatever is there. Refuses null: the default stream has no handle here. */
GN_API GnStatus GnWrapStream(void* aclrt_stream, GnStream** stream);

/* Puts one launch of a kernel into the stream's queue, without a plan in front of it: args are its parameters in their order, each the
 * address of device memory or, for a number, of the number on the host, which is read before this returns. For comparing kernels one by
 * one (`gnt npu verify`); operators go through their two calls. */
GN_API GnStatus GnLaunchKernel(const char* entry, uint32_t blocks, void** args, uint64_t count, GnStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_NPU_H */
