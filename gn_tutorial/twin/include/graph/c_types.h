// Tensor types and formats as C enumerators. Operators use them to write the keys of kernel templates.
#pragma once
#include "gn_twin/host/graph_types.h"
