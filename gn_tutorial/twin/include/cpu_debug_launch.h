// Forwards to acl/acl.h. In CANN this header makes a launch with <<<>>> run on a CPU. The twin needs no header for
// this, because it rewrites such launches before it compiles a sample.
#pragma once
#include "acl/acl.h"
