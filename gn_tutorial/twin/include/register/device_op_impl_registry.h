// The header of DEVICE_IMPL_OP_OPTILING, which registers tiling that the device's CPU can run.
#pragma once
#include "register/op_def_registry.h"
