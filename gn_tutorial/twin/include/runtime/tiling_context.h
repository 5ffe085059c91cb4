// A path, without exe_graph, under which operator projects include a context of host functions.
#pragma once
#include "register/op_def_registry.h"
