// Numbers of 16 bits on the host, as operator repositories call them (Ops::Base): the twin's own, which round as the device does.
#pragma once
#include "gn_twin/base/float16.h"

namespace Ops::Base {
using fp16_t = half;
using bfloat16 = bfloat16_t;
}  // namespace Ops::Base
