// Forwards to acl/acl.h. The twin lacks aclopCompileAndExecute, which CANN declares here. That function compiles and
// runs an operator by its name, and needs an installed operator package.
#pragma once
#include "acl/acl.h"
