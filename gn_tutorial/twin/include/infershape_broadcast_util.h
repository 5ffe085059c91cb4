// One of the names under which operator repositories include unknown shapes and the inference of common operators.
#pragma once
#include "gn_twin/op_host/base_shapes.h"
