// One of the names under which operators include template tiling.
#pragma once
#include "ascendc/host_api/tiling/template_argument.h"
