// The case of this test.
#pragma once
#include <cstdint>
#include <vector>

#include "acl/acl.h"

const std::vector<int64_t> CASE_SHAPE = {3, 1001};
constexpr aclDataType CASE_DTYPE = ACL_FLOAT16;
constexpr size_t CASE_BYTES = 2;
