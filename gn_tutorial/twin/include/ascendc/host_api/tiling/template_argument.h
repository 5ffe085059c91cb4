// The macros of template tiling. An operator's header of tiling keys includes this file, and the operator's kernel and
// host code share that header. In a kernel's build the macros do nothing. In host code (GNT_OP_HOST) they declare the
// values that each template argument can have.
#pragma once
#ifdef GNT_OP_HOST
#include "gn_twin/op_host/template_key.h"
#else
#include "kernel_operator.h"
#endif
