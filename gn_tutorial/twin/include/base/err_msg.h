// A header of the toolkit that operator repositories use for logging.
#pragma once
#include "gn_twin/op_host/toolkit_log.h"
