// The C++ library's headers that register/op_def_registry.h includes. They are precompiled as one file, because reading
// them takes a third of the compile time of a project's host file. This file is included before every host file, so it
// contains nothing of the twin.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
