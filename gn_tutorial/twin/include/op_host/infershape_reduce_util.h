// One of the names under which operator repositories include unknown shapes and what common operators infer.
#pragma once
#include "gn_twin/op_host/base_shapes.h"
