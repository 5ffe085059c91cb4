// One of the names under which programs include the acl interface. aclopCompileAndExecute, which compiles and runs an
// operator by its name, is not here: it needs an installed operator package.
#pragma once
#include "acl/acl.h"
