// Forwards to repository_helpers.h: small helpers for host files. Operator repositories include them by several paths;
// this is one of the paths.
#pragma once
#include "gn_twin/op_host/repository_helpers.h"
