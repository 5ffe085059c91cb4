// The header of OpDef and its parts, without the rest of register/op_def_registry.h.
#pragma once
#include "gn_twin/op_host/op_def.h"
