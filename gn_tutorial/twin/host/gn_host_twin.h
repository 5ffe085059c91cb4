/* What only the twin's build of the host API has: where the compiled kernels are, and streams without a thread. A C header, like gn_host_api.h. */
#ifndef GN_HOST_TWIN_H
#define GN_HOST_TWIN_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on launches of kernel `entry` on this stream run the kernel library at `path`. Without this call it is `<entry>.so` in the
 * folder of the host library. Returns GN_ERR_INNER_FIND_KERNEL for a library that cannot be loaded or was built for another version. */
GN_API GnStatus GnTwinUseKernel(GnStream* stream, const char* entry, const char* path);

/* A stream without a thread: what is put on it is done when the call that puts it there returns, on the caller's thread, and what goes
 * wrong is returned there. It takes no host functions. For callers that would wait for each call anyway. */
GN_API GnStatus GnTwinCreateDirectStream(GnStream** stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_TWIN_H */
