// One of the names under which programs include the acl interface: tensors and the two calls of an operator (aclnn).
#pragma once
#include "acl/acl.h"
