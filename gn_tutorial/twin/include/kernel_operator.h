// The header that every Ascend C kernel includes. CANN's toolkit has one of the same name: the include path decides whether a kernel
// is compiled for an NPU or for the twin.
#pragma once
#include "gn_twin/activation.h"
#include "gn_twin/constants.h"
#include "gn_twin/data_copy_pad.h"
#include "gn_twin/debug.h"
#include "gn_twin/mask.h"
#include "gn_twin/operators.h"
#include "gn_twin/pipe.h"
#include "gn_twin/sync.h"
#include "gn_twin/system.h"
#include "gn_twin/tiling.h"
#include "gn_twin/vector_binary.h"
#include "gn_twin/vector_cast.h"
#include "gn_twin/vector_compare.h"
#include "gn_twin/vector_fill.h"
#include "gn_twin/vector_fused.h"
#include "gn_twin/vector_logic.h"
#include "gn_twin/vector_reduce_tensor.h"
#include "gn_twin/vector_scalar.h"
#include "gn_twin/vector_unary.h"

#include "gn_twin/not_yet.h"
