// Types as enumerators of C, which keys of kernel templates are written with.
#pragma once
#include "gn_twin/host/graph_types.h"
