// ListScale: each block takes whole tensors of the list, whose lengths it reads from the list itself.
#include "kernel_operator.h"
#include "list_scale_tiling.h"
using namespace AscendC;

constexpr uint32_t MOST = 4096;

class KernelListScale {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, float by) {
    inputs.Init(x);
    outputs.Init(y);
    factor = by;
    pipe.InitBuffer(inQueue, 1, MOST * sizeof(float));
    pipe.InitBuffer(outQueue, 1, MOST * sizeof(float));
  }
  __aicore__ inline void Scale(uint32_t index) {
    uint64_t axes[8];
    TensorDesc<float> desc;
    desc.SetShapeAddr(axes);
    inputs.GetDesc(desc, index);
    uint32_t length = 1;
    for (uint32_t axis = 0; axis < desc.GetDim(); ++axis) length *= desc.GetShape(axis);
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer(inputs.GetDataPtr<__gm__ float>(index), length);
    to.SetGlobalBuffer(outputs.GetDataPtr<__gm__ float>(index), length);
    const DataCopyExtParams all{1, static_cast<uint32_t>(length * sizeof(float)), 0, 0, 0};
    const DataCopyPadExtParams<float> pad{false, 0, 0, 0};
    LocalTensor<float> x = inQueue.AllocTensor<float>();
    DataCopyPad(x, from, all, pad);
    inQueue.EnQue(x);
    x = inQueue.DeQue<float>();
    LocalTensor<float> y = outQueue.AllocTensor<float>();
    Muls(y, x, factor, static_cast<int32_t>(length));
    outQueue.EnQue(y);
    inQueue.FreeTensor(x);
    y = outQueue.DeQue<float>();
    DataCopyPad(to, y, all);
    outQueue.FreeTensor(y);
  }

 private:
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> inQueue;
  TQue<QuePosition::VECOUT, 1> outQueue;
  ListTensorDesc inputs, outputs;
  float factor;
};

extern "C" __global__ __aicore__ void list_scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ListScaleTilingData);
  GET_TILING_DATA(data, tiling);
  KernelListScale op;
  op.Init(x, y, data.factor);
  for (uint32_t index = GetBlockIdx(); index < data.tensors; index += GetBlockNum()) op.Scale(index);
}
