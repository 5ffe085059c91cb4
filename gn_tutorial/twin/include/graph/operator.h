// Declares ge::Operator, under the path by which operator projects include it.
#pragma once
#include "register/op_def_registry.h"
