// One of the names under which operator repositories include tiling by templates.
#pragma once
#include "gn_twin/op_host/tiling_templates.h"
