// Forwards to ascendc/host_api/tiling/template_argument.h: template tiling. Operators include it by several paths; this
// is one.
#pragma once
#include "ascendc/host_api/tiling/template_argument.h"
