/* What only the twin's build of the host API has: the paths of the compiled kernels, and streams without a thread.
 * It is a C header, like gn_host_api.h. */
#ifndef GN_HOST_TWIN_H
#define GN_HOST_TWIN_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes launches of kernel `entry` on this stream run the kernel library at `path`. Without this call, they run
 * `<entry>.so` in the folder of the host library. Returns GN_ERR_INNER_FIND_KERNEL if the library cannot be loaded or
 * was built for another version. */
GN_API GnStatus GnTwinUseKernel(GnStream* stream, const char* entry, const char* path);

/* Creates a stream without a thread. Each call does its work on the caller's thread before it returns, and returns the
 * errors of that work. The stream takes no host functions. It is for callers that would wait for each call anyway. */
GN_API GnStatus GnTwinCreateDirectStream(GnStream** stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_TWIN_H */
