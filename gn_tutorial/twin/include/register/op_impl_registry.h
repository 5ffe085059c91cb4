// The header of operator repositories, which register functions separately from definitions (IMPL_OP and similar).
#pragma once
#include "register/op_def_registry.h"
