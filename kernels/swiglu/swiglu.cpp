// z = silu(gate) * up for n elements of float, half or bfloat16, in one launch: the gated layer of a language model (SwiGLU).
//
// Two launches would write silu(gate) and read it again, 5 elements through memory for each of the result; here it is 3. The timeline
// should show MTE2 as the busiest pipe, and V in its shadow.
#include "../common/common_chain.h"
#include "../common/common_formulas.h"

// dtype: that of gate, up and z, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void swiglu_kernel(GM_ADDR gate, GM_ADDR up, GM_ADDR z, uint32_t n, uint32_t dtype) {
  GM_ADDR in[2] = {gate, up};
  GM_ADDR out[1] = {z};
  RunMapOf<Chain<Silu, Times>>(dtype, in, out, n);
}
