// Declares ge::Operator. Operator projects include it by this path, as in CANN.
#pragma once
#include "register/op_def_registry.h"
