// What each kernel includes first, precompiled.
#pragma once
#include "kernel_operator.h"
