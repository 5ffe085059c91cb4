// Forwards to tiling_templates.h: tiling by classes with priorities. Operator repositories include it by several paths;
// this is one of the paths.
#pragma once
#include "gn_twin/op_host/tiling_templates.h"
