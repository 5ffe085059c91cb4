// The header of OpDef and its parts alone.
#pragma once
#include "gn_twin/op_host/op_def.h"
