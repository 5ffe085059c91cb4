// One of the names under which operator repositories include the small helpers of the repository.
#pragma once
#include "gn_twin/op_host/repository_helpers.h"
