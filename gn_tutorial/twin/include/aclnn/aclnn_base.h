// Forwards to acl/acl.h, which has the whole acl interface. Programs that call an operator by its two aclnn functions
// include a part of the interface by this path, as in CANN.
#pragma once
#include "acl/acl.h"
