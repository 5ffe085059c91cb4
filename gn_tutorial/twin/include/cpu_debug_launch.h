// CANN's header that lets <<<>>> run on a CPU. Here the source pass of a sample does that; see acl/acl.h.
#pragma once
#include "acl/acl.h"
