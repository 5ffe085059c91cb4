// Kernels include this beside kernel_operator.h, which has all of the twin's kernel API.
#pragma once
#include "kernel_operator.h"
