// What operator projects include under this path: fe::PlatFormInfos comes with the header of operator definitions.
#pragma once
#include "platform/platform_info_def.h"
