// Forwards to register/op_def_registry.h, which declares everything that an operator's host functions use. Operator
// projects include this path for some of these declarations, as in CANN.
#pragma once
#include "register/op_def_registry.h"
