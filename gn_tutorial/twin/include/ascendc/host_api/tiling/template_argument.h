// Template tiling, by the name under which an operator's key header includes it. Its kernel and its host code share that header:
// where a kernel is compiled the macros mean nothing, where host code is (GNT_OP_HOST) they are the choices.
#pragma once
#ifdef GNT_OP_HOST
#include "gn_twin/op_host/template_key.h"
#else
#include "kernel_operator.h"
#endif
