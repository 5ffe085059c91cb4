// Forwards to platform_info_def.h, which gives fe::PlatFormInfos. Operator projects include that class by this path, as
// in CANN.
#pragma once
#include "platform/platform_info_def.h"
