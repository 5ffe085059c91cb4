// The header of IMPL_OP and similar macros. With these, operator repositories register an operator's functions apart
// from its definition.
#pragma once
#include "register/op_def_registry.h"
