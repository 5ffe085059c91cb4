// 16-bit floats on the host, under the names of operator repositories (Ops::Base). They are the twin's own types, which
// round as the device does.
#pragma once
#include "gn_twin/base/float16.h"

namespace Ops::Base {
using fp16_t = half;
using bfloat16 = bfloat16_t;
}  // namespace Ops::Base
