// Template tiling, by the name under which an operator's key header includes it. The operator's kernel and host code
// share that header: in a kernel's build the macros do nothing, in host code (GNT_OP_HOST) they declare the choices.
#pragma once
#ifdef GNT_OP_HOST
#include "gn_twin/op_host/template_key.h"
#else
#include "kernel_operator.h"
#endif
