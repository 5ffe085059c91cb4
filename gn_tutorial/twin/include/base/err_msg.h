// One of the toolkit's headers that operator repositories log with.
#pragma once
#include "gn_twin/op_host/toolkit_log.h"
