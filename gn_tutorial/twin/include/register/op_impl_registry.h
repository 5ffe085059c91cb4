// The header of operator repositories, which register functions apart from definitions (IMPL_OP and its kin).
#pragma once
#include "register/op_def_registry.h"
