/* Functions that only the twin's build of the host API has: to set the path of a compiled kernel, and to create a
 * stream without a thread. This is a C header, like gn_host_api.h. */
#ifndef GN_HOST_TWIN_H
#define GN_HOST_TWIN_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes launches of kernel `entry` on this stream run the kernel library at `path`. Without this call, they run
 * `<entry>.so` in the folder of the host library. Returns GN_ERR_INNER_FIND_KERNEL if the file cannot be loaded, is no
 * kernel library or was built for another version; another error for a null pointer or an unusable stream. */
GN_API GnStatus GnTwinUseKernel(GnStream* stream, const char* entry, const char* path);

/* Creates a stream without a thread. Each call does its work on the caller's thread before it returns, and returns the
 * errors of that work. GnLaunchHostFunc fails on such a stream. Use such a stream if you would wait for each call. */
GN_API GnStatus GnTwinCreateDirectStream(GnStream** stream);

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_TWIN_H */
