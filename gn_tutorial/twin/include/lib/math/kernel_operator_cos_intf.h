// Forwards to kernel_operator.h, which has the twin's whole kernel API. In CANN a kernel also needs this header, for a
// part of the high-level API.
#pragma once
#include "kernel_operator.h"
