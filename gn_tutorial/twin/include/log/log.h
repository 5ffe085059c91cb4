// One of the names under which operator repositories include the log and check macros.
#pragma once
#include "gn_twin/op_host/base_shapes.h"
#include "gn_twin/op_host/log_macros.h"
