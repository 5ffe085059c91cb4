// The instances of RowBias's kernel template: the dtype, and whether there is a bias.
#ifndef TILING_KEY_ROW_BIAS_H
#define TILING_KEY_ROW_BIAS_H
#include "ascendc/host_api/tiling/template_argument.h"

ASCENDC_TPL_ARGS_DECL(RowBias, ASCENDC_TPL_DATATYPE_DECL(D_T, C_DT_FLOAT, C_DT_INT32, ASCENDC_TPL_INPUT(0)),
                      ASCENDC_TPL_BOOL_DECL(HAS_BIAS, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_DATATYPE_SEL(D_T, C_DT_FLOAT, C_DT_INT32),
                                     ASCENDC_TPL_BOOL_SEL(HAS_BIAS, 0, 1)));
#endif
