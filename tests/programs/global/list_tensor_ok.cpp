// A list of tensors has as many as the host put there.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_list_tensor_ok(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<uint64_t> words;
  words.SetGlobalBuffer(reinterpret_cast<__gm__ uint64_t*>(y));
  words.SetValue(0, 24);
  words.SetValue(1, 1);
  words.SetValue(2, 1024);
  words.SetValue(3, reinterpret_cast<uint64_t>(x));
  ListTensorDesc list(y);
  list.GetDataPtr<float>(0);
}
