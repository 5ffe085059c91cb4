// RowSplit: each block fills whole tensors of the output list; block 0 writes where they end, if the caller wants that.
#include "kernel_operator.h"
#include "row_split_tiling.h"
using namespace AscendC;

constexpr uint32_t MOST = 4096, MOST_TENSORS = 64;

class KernelRowSplit {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR ends, const RowSplitTilingData& data) {
    all = reinterpret_cast<__gm__ float*>(x);
    last = ends;
    outputs.Init(y);
    tensors = data.tensors;
    wantsEnds = data.wantsEnds != 0;
    pipe.InitBuffer(inQueue, 1, MOST * sizeof(float));
    pipe.InitBuffer(outQueue, 1, MOST * sizeof(float));
    pipe.InitBuffer(endQueue, 1, MOST_TENSORS * sizeof(int32_t));
  }
  __aicore__ inline void Process() {
    uint32_t begin = 0;
    LocalTensor<int32_t> lasts = endQueue.AllocTensor<int32_t>();
    for (uint32_t index = 0; index < tensors; ++index) {
      const uint32_t length = Length(index);
      if (index % GetBlockNum() == GetBlockIdx()) Fill(index, begin, length);
      begin += length;
      lasts.SetValue(index, static_cast<int32_t>(begin));
    }
    endQueue.EnQue(lasts);
    lasts = endQueue.DeQue<int32_t>();
    if (wantsEnds && GetBlockIdx() == 0) {
      GlobalTensor<int32_t> to;
      to.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(last), tensors);
      DataCopyPad(to, lasts, DataCopyExtParams{1, static_cast<uint32_t>(tensors * sizeof(int32_t)), 0, 0, 0});
    }
    endQueue.FreeTensor(lasts);
  }

 private:
  __aicore__ inline uint32_t Length(uint32_t index) {
    uint64_t axes[8];
    TensorDesc<float> desc;
    desc.SetShapeAddr(axes);
    outputs.GetDesc(desc, index);
    uint32_t length = 1;
    for (uint32_t axis = 0; axis < desc.GetDim(); ++axis) length *= desc.GetShape(axis);
    return length;
  }
  __aicore__ inline void Fill(uint32_t index, uint32_t begin, uint32_t length) {
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer(all + begin, length);
    to.SetGlobalBuffer(outputs.GetDataPtr<__gm__ float>(index), length);
    const DataCopyExtParams whole{1, static_cast<uint32_t>(length * sizeof(float)), 0, 0, 0};
    const DataCopyPadExtParams<float> pad{false, 0, 0, 0};
    LocalTensor<float> x = inQueue.AllocTensor<float>();
    DataCopyPad(x, from, whole, pad);
    inQueue.EnQue(x);
    x = inQueue.DeQue<float>();
    LocalTensor<float> y = outQueue.AllocTensor<float>();
    Muls(y, x, 2.0f, static_cast<int32_t>(length));
    outQueue.EnQue(y);
    inQueue.FreeTensor(x);
    y = outQueue.DeQue<float>();
    DataCopyPad(to, y, whole);
    outQueue.FreeTensor(y);
  }

  TPipe pipe;
  TQue<QuePosition::VECIN, 1> inQueue;
  TQue<QuePosition::VECOUT, 1> outQueue, endQueue;
  ListTensorDesc outputs;
  __gm__ float* all;
  GM_ADDR last;
  uint32_t tensors;
  bool wantsEnds;
};

extern "C" __global__ __aicore__ void row_split(GM_ADDR x, GM_ADDR y, GM_ADDR ends, GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowSplitTilingData);
  GET_TILING_DATA(data, tiling);
  KernelRowSplit op;
  op.Init(x, y, ends, data);
  op.Process();
}
