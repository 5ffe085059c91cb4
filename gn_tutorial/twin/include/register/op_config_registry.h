// The header of REGISTER_OP_AICORE_CONFIG, which adds a chip to an operator that another file defines.
#pragma once
#include "register/op_def_registry.h"
