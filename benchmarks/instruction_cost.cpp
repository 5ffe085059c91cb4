// Issues `repetitions` instructions of `count` elements each on buffers that stay in the Unified Buffer, or copies of the
// tiles of `memory`, of `elements` floats, in and out: what one instruction costs the twin, and what watching it adds. Used by
// benchmarks/twin_modes.py.
#include "kernel_operator.h"

enum Operation : uint32_t {
  kAdd,
  kMulsHalf,
  kReduceSum,
  kCast,
  kAddRepeats,
  kAddRepeatsOne,
  kAddLanes,
  kAddGaps,
  kAddBits,
  kRows,
  kReduceMax,
  kCompare,
  kSelect,
  kGather,
  kBroadcast,
  kCopy,
  kCopyThrough,
  kQueue,
  kGetValue
};

// A function for each operation, so that none is compiled otherwise because of what the others need.
template <class Issue>
__attribute__((noinline)) void Repeat(uint32_t repetitions, Issue issue) {
  for (uint32_t i = 0; i < repetitions; ++i) issue();
}

extern "C" __global__ __aicore__ void instruction_cost(GM_ADDR memory, uint32_t elements, uint32_t operation,
                                                       uint32_t count, uint32_t repetitions) {
  using namespace AscendC;
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf, offsetBuf;
  TBuf<TPosition::VECOUT> cBuf;
  TQue<TPosition::VECIN, 2> queue;
  pipe.InitBuffer(aBuf, 32768);
  pipe.InitBuffer(bBuf, 32768);
  pipe.InitBuffer(cBuf, 32768);
  pipe.InitBuffer(offsetBuf, 32768);
  pipe.InitBuffer(queue, 2, 16384);
  const LocalTensor<float> a = aBuf.Get<float>();
  const LocalTensor<float> b = bBuf.Get<float>();
  const LocalTensor<float> c = cBuf.Get<float>();
  const LocalTensor<half> aHalf = a.ReinterpretCast<half>();
  const LocalTensor<half> cHalf = c.ReinterpretCast<half>();
  const LocalTensor<uint8_t> bits = b.ReinterpretCast<uint8_t>();
  const LocalTensor<int32_t> index = offsetBuf.Get<int32_t>();
  const LocalTensor<uint32_t> offsets = index.ReinterpretCast<uint32_t>();
  GlobalTensor<float> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(memory), elements);
  uint32_t at = 0;
  const int32_t n = static_cast<int32_t>(count);
  const uint8_t repeats = static_cast<uint8_t>(count / 64);
  uint64_t everySecond[2] = {0x5555555555555555, 0};
  Duplicate(a, 0.5f, 8192);
  Duplicate(b, 0.25f, 8192);
  Duplicate(c, 0.0f, 8192);
  CreateVecIndex(index, 0, 8192);
  Muls(index, index, 4, 8192);
  const TEventID toScalar = pipe.FetchEventID<HardEvent::V_S>();
  SetFlag<HardEvent::V_S>(toScalar);
  WaitFlag<HardEvent::V_S>(toScalar);
  float sum = 0.0f;
  switch (operation) {
    case kAdd: Repeat(repetitions, [=] { Add(c, a, b, n); }); break;
    case kMulsHalf: Repeat(repetitions, [=] { Muls(cHalf, aHalf, half(1.5f), n); }); break;
    case kReduceSum: Repeat(repetitions, [=] { ReduceSum(c, a, b, n); }); break;
    case kCast: Repeat(repetitions, [=] { Cast(cHalf, a, RoundMode::CAST_RINT, count); }); break;
    case kAddRepeats: Repeat(repetitions, [=] { Add(c, a, b, uint64_t{64}, repeats, {1, 1, 1, 8, 8, 8}); }); break;
    case kAddRepeatsOne: Repeat(repetitions, [=] { Add(c, a, b, uint64_t{64}, repeats, {1, 1, 1, 8, 8, 0}); }); break;
    case kAddLanes: Repeat(repetitions, [=] { Add(c, a, b, uint64_t{48}, repeats, {1, 1, 1, 8, 8, 8}); }); break;
    case kAddGaps:
      Repeat(repetitions, [=] { Add(c, a, b, uint64_t{64}, repeats, {2, 2, 2, 16, 16, 16}); });
      break;
    case kAddBits:
      Repeat(repetitions, [&] { Add(c, a, b, everySecond, repeats, {1, 1, 1, 8, 8, 8}); });
      break;
    case kRows:
      Repeat(repetitions, [=] {
        for (uint32_t row = 0; row < 1024; row += count) Muls(c[row], a[row], 1.5f, n);
        SetFlag<HardEvent::V_S>(toScalar);
        WaitFlag<HardEvent::V_S>(toScalar);
      });
      break;
    case kReduceMax: Repeat(repetitions, [=] { ReduceMax(c, a, b, n, false); }); break;
    case kCompare: Repeat(repetitions, [=] { Compare(c.ReinterpretCast<uint8_t>(), a, b, CMPMODE::LT, count); }); break;
    case kSelect:
      Repeat(repetitions, [=] { Select(c, bits, a, 0.5f, SELMODE::VSEL_TENSOR_SCALAR_MODE, count); });
      break;
    case kGather: Repeat(repetitions, [=] { Gather(c, a, offsets, 0, count); }); break;
    case kBroadcast: Repeat(repetitions, [=] { Brcb(c, a, repeats, {1, 8}); }); break;
    case kCopy: Repeat(repetitions, [=] { DataCopy(c, a, count); }); break;
    case kCopyThrough:
      Repeat(repetitions, [&] {
        DataCopy(a, gm[at], count);
        SetFlag<HardEvent::MTE2_MTE3>(0);
        WaitFlag<HardEvent::MTE2_MTE3>(0);
        DataCopy(gm[at], a, count);
        SetFlag<HardEvent::MTE3_MTE2>(0);
        WaitFlag<HardEvent::MTE3_MTE2>(0);
        at = at + 2 * count <= elements ? at + count : 0;
      });
      break;
    case kQueue:
      Repeat(repetitions, [&] {
        LocalTensor<float> tensor = queue.AllocTensor<float>();
        queue.EnQue(tensor);
        tensor = queue.DeQue<float>();
        queue.FreeTensor(tensor);
      });
      break;
    case kGetValue:
      Repeat(repetitions, [=, &sum] {
        float total = sum;
        for (uint32_t j = 0; j < count; ++j) total += a.GetValue(j);
        sum = total;
      });
      break;
    default: break;
  }
  SetFlag<HardEvent::V_S>(toScalar);
  WaitFlag<HardEvent::V_S>(toScalar);
  c.SetValue(0, sum);
  const TEventID toCopy = pipe.FetchEventID<HardEvent::S_MTE3>();
  SetFlag<HardEvent::S_MTE3>(toCopy);
  WaitFlag<HardEvent::S_MTE3>(toCopy);
  PipeBarrier<PIPE_ALL>();
  DataCopy(gm, c, 8);
}
