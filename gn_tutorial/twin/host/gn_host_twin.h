/* What only the twin's build of the host API has: where the compiled kernels are. A C header, like gn_host_api.h. */
#ifndef GN_HOST_TWIN_H
#define GN_HOST_TWIN_H

#include "gn_host_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on launches of kernel `entry` on this stream run the kernel library at `path`. Without this call it is `<entry>.so` in the
 * folder of the host library. Returns GN_ERR_INNER_FIND_KERNEL for a library that cannot be loaded or was built for another version. */
GN_API GnStatus GnTwinUseKernel(GnStream* stream, const char* entry, const char* path);

#ifdef __cplusplus
}
#endif

#endif /* GN_HOST_TWIN_H */
