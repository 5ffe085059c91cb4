// A context of host functions, by its path without exe_graph.
#pragma once
#include "register/op_def_registry.h"
