// ge::Operator, declared, by the path by which operator projects include it.
#pragma once
#include "register/op_def_registry.h"
