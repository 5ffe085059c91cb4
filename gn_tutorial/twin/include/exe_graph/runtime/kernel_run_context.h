// Forwards to register/op_def_registry.h, which has everything that host functions of an operator use. Operator
// projects include a part of it by this path, as in CANN.
#pragma once
#include "register/op_def_registry.h"
