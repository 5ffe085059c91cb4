// The header of DEVICE_IMPL_OP_OPTILING: tiling that the device's CPU can run.
#pragma once
#include "register/op_def_registry.h"
