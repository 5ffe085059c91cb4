// One of the names under which programs include the acl interface. It lacks aclopCompileAndExecute, which compiles and
// runs an operator by its name and needs an installed operator package.
#pragma once
#include "acl/acl.h"
