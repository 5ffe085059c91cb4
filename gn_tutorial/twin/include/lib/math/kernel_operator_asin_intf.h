// Forwards to kernel_operator.h, which has the twin's whole kernel API. For CANN a kernel includes this header too, to
// get a part of the high-level API.
#pragma once
#include "kernel_operator.h"
