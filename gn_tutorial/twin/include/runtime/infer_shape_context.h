// The same as exe_graph/runtime/infer_shape_context.h. Some operator projects leave out exe_graph/ in the path.
#pragma once
#include "register/op_def_registry.h"
