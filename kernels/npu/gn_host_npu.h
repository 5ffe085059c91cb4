/* What only the NPU's build of the host API has: streams that somebody else made. A C header, like gn_host_api.h.
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

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_NPU_H */
