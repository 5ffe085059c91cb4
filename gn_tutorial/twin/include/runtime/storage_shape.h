// The same as exe_graph/runtime/storage_shape.h. Some operator projects leave out exe_graph/ in the path.
#pragma once
#include "register/op_def_registry.h"
