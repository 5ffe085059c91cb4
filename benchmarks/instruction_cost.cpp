// Issues `repetitions` instructions of `count` elements each on buffers that stay in the Unified Buffer: what one instruction
// costs the twin, and what watching it adds. Used by benchmarks/twin_modes.py.
#include "kernel_operator.h"

enum Operation : uint32_t { kAdd, kMulsHalf, kReduceSum, kCast, kGetValue, kAddRepeats };

extern "C" __global__ __aicore__ void instruction_cost(GM_ADDR out, uint32_t operation, uint32_t count,
                                                       uint32_t repetitions) {
  using namespace AscendC;
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  TBuf<TPosition::VECOUT> cBuf;
  pipe.InitBuffer(aBuf, 32768);
  pipe.InitBuffer(bBuf, 32768);
  pipe.InitBuffer(cBuf, 32768);
  LocalTensor<float> a = aBuf.Get<float>();
  LocalTensor<float> b = bBuf.Get<float>();
  LocalTensor<float> c = cBuf.Get<float>();
  const int32_t n = static_cast<int32_t>(count);
  Duplicate(a, 0.5f, 8192);
  Duplicate(b, 0.25f, 8192);
  Duplicate(c, 0.0f, 8192);
  const TEventID toScalar = pipe.FetchEventID<HardEvent::V_S>();
  SetFlag<HardEvent::V_S>(toScalar);
  WaitFlag<HardEvent::V_S>(toScalar);
  float sum = 0.0f;
  for (uint32_t i = 0; i < repetitions; ++i) {
    if (operation == kAdd) Add(c, a, b, n);
    if (operation == kAddRepeats) Add(c, a, b, uint64_t{64}, static_cast<uint8_t>(count / 64), {1, 1, 1, 8, 8, 0});
    if (operation == kMulsHalf) Muls(c.ReinterpretCast<half>(), a.ReinterpretCast<half>(), half(1.5f), n);
    if (operation == kReduceSum) ReduceSum(c, a, b, n);
    if (operation == kCast) Cast(c.ReinterpretCast<half>(), a, RoundMode::CAST_RINT, count);
    if (operation == kGetValue) {
      for (uint32_t j = 0; j < count; ++j) sum += a.GetValue(j);
    }
  }
  SetFlag<HardEvent::V_S>(toScalar);
  WaitFlag<HardEvent::V_S>(toScalar);
  c.SetValue(0, sum);
  GlobalTensor<float> outGm;
  outGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out), 8);
  const TEventID toCopy = pipe.FetchEventID<HardEvent::S_MTE3>();
  SetFlag<HardEvent::S_MTE3>(toCopy);
  WaitFlag<HardEvent::S_MTE3>(toCopy);
  DataCopy(outGm, c, 8);
}
