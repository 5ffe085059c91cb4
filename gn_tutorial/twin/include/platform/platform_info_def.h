// The framework's structs of a chip's sections. Operator projects include this header for the names that it declares.
//
// Source: the public platform_info_def.h of CANN has these three declarations at file scope, and operators depend on
// that.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "register/op_def_registry.h"

using std::map;
using std::string;
using std::vector;
