// The framework's structs with a chip's properties, and three names of the standard library.
//
// Source: the public platform_info_def.h of CANN also has these three using-declarations at file scope. Some operators
// write map, string and vector without std::, and compile only because of them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "register/op_def_registry.h"

using std::map;
using std::string;
using std::vector;
