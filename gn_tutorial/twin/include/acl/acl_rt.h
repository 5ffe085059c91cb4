// Forwards to acl/acl.h. CANN divides the acl interface into several headers, and programs include this one too. The
// twin has the whole interface in one header.
#pragma once
#include "acl/acl.h"
