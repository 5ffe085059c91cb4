// z = max(x + y, 0) for n elements of float, half or bfloat16, in one launch: the end of a residual block.
//
// Two launches would write the sum and read it again, 5 elements through memory for each of the result; here it is 3. The sum is never
// rounded to the tensors' dtype. The timeline should show MTE2 as the busiest pipe, and V in its shadow.
#include "../common/common_chain.h"
#include "../common/common_formulas.h"

// dtype: that of x, y and z, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void add_relu_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n, uint32_t dtype) {
  GM_ADDR in[2] = {x, y};
  GM_ADDR out[1] = {z};
  RunMapOf<Chain<Plus, Rectify>>(dtype, in, out, n);
}
