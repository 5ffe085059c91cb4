// One of the names under which operator repositories include the functions for unknown shapes and common inference.
#pragma once
#include "gn_twin/op_host/base_shapes.h"
