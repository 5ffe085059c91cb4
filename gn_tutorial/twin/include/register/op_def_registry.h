// The header of operator definitions: OpDef, OP_ADD, and everything that host functions of an operator use.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "securec.h"  // as in the toolkit: some files of ops-math include only this header and use memset_s

#include "gn_twin/op_host/contexts.h"
#include "gn_twin/op_host/registry.h"
#include "gn_twin/op_host/shape_range.h"
#include "gn_twin/op_host/type_utils.h"
