// The contexts that the framework passes to an operator's host functions. Source: the graph engine's documentation of
// these classes.
#pragma once
#include "gn_twin/op_host/infer_contexts.h"
#include "gn_twin/op_host/tiling_contexts.h"
