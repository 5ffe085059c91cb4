// Types and formats as enumerators of C, with which the keys of kernel templates are written.
#pragma once
#include "gn_twin/host/graph_types.h"
