// The C++ library's headers that register/op_def_registry.h brings along, in one file that is precompiled: reading them is a third of
// the time that a host file of a project takes. It comes before every host file; nothing of this project's own is in it.
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
