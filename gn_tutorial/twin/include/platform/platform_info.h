// A path under which operator projects include fe::PlatFormInfos; the header of operator definitions has it.
#pragma once
#include "platform/platform_info_def.h"
