// What operator projects include under this path; all of it comes with the header of operator definitions.
#pragma once
#include "register/op_def_registry.h"
