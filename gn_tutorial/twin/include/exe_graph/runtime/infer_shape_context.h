// A path under which operator projects include host classes; the header of operator definitions has all of them.
#pragma once
#include "register/op_def_registry.h"
