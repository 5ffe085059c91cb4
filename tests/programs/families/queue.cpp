// Queues, tensors, system calls and macros: each op writes what it saw into dst.
#include "bench.h"

struct Tiling {
  uint32_t rows;
  uint8_t flag;
  float scale;
  uint64_t length;
  uint16_t sizes[3];
};
REGISTER_TILING_DEFAULT(Tiling);

enum Op : int64_t {
  kOrder,
  kStale,
  kCounts,
  kWholeBuffer,
  kViews,
  kUnwritten,
  kReset,
  kOperators,
  kBind,
  kBlocks,
  kTiling,
  kKey,
  kEmptyDeque,
  kNoEventIds,
  kSecondPipe,
  kGlobals,
  kScalars,
  kPrint,
  kReservedIds
};

// Collects numbers and writes them to the start of dst.
class Notes {
 public:
  __aicore__ explicit Notes(GM_ADDR dst) { out_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(dst)); }
  __aicore__ void Add(int64_t value) { out_.SetValue(count_++, static_cast<int32_t>(value)); }

 private:
  GlobalTensor<int32_t> out_;
  uint32_t count_ = 0;
};

// Two buffers come back in the order they went in, whatever the order of their allocation.
__aicore__ void Order(Notes& notes) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> queue;
  pipe.InitBuffer(queue, 2, 256);
  LocalTensor<int32_t> first = queue.AllocTensor<int32_t>();
  LocalTensor<int32_t> second = queue.AllocTensor<int32_t>();
  first.SetValue(0, 1);
  second.SetValue(0, 2);
  queue.EnQue(second);
  queue.EnQue(first);
  for (int i = 0; i < 2; ++i) {
    LocalTensor<int32_t> next = queue.DeQue<int32_t>();
    notes.Add(next.GetValue(0));
    queue.FreeTensor(next);
  }
}

// AllocTensor clears nothing and takes the buffers in turn.
__aicore__ void Stale(Notes& notes) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 2, 256);
  for (int i = 0; i < 4; ++i) {
    LocalTensor<int32_t> t = queue.AllocTensor<int32_t>();
    if (i >= 2) notes.Add(t.GetValue(7));
    t.SetValue(7, 100 + i);
    queue.FreeTensor(t);
  }
}

__aicore__ void Counts(Notes& notes) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> queue;
  pipe.InitBuffer(queue, 2, 256);
  const auto look = [&]() {
    notes.Add(queue.GetTensorCountInQue());
    notes.Add(queue.HasTensorInQue());
    notes.Add(queue.VacantInQue());
    notes.Add(queue.HasIdleBuffer());
  };
  look();
  LocalTensor<float> a = queue.AllocTensor<float>();
  LocalTensor<float> b = queue.AllocTensor<float>();
  look();
  queue.EnQue(a);
  look();
  queue.EnQue(b);
  look();
  a = queue.DeQue<float>();
  queue.FreeTensor(a);
  look();
  b = queue.DeQue<float>();
  queue.FreeTensor(b);
}

// A view and SetSize do not survive the queue; lengths are rounded up to 32 bytes.
__aicore__ void WholeBuffer(Notes& notes) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(queue, 1, 250);
  pipe.InitBuffer(buffer, 33);
  LocalTensor<float> t = queue.AllocTensor<float>();
  notes.Add(t.GetSize());
  t.SetSize(3);
  notes.Add(t.GetSize());
  queue.EnQue(t[1]);
  t = queue.DeQue<float>();
  notes.Add(t.GetSize());
  queue.FreeTensor(t);
  notes.Add(buffer.Get<half>().GetSize());
  notes.Add(buffer.Get<half>(5).GetSize());
  notes.Add(buffer.GetWithOffset<half>(4, 32).GetPhyAddr() - buffer.Get<half>().GetPhyAddr());
}

__aicore__ void Views(Notes& notes) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 128);
  LocalTensor<int32_t> t = buffer.Get<int32_t>();
  for (int i = 0; i < 32; ++i) t.SetValue(i, i * 0x01010101);
  notes.Add(t[5].GetValue(2));
  notes.Add(t[5].GetSize());
  notes.Add(t.ReinterpretCast<uint8_t>().GetSize());
  notes.Add(t.ReinterpretCast<uint8_t>().GetValue(13));
  notes.Add(t[8].ReinterpretCast<int64_t>().GetSize());
  t(3) = -9;
  notes.Add(t.GetValue(3));
  LocalTensor<int16_t> other;
  other.SetAddrWithOffset(t, 4);
  notes.Add(other.GetValue(0));
  notes.Add(t.GetPhyAddr(6) - t.GetPhyAddr());
  t.SetUserTag(77);
  notes.Add(t.GetUserTag());
  notes.Add(t.GetPosition() == static_cast<int32_t>(TPosition::VECCALC));
}

// Local memory that nobody wrote is NaN, so that a forgotten copy shows.
__aicore__ void Unwritten(Notes& notes) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  const float f = buffer.Get<float>().GetPhyAddr()[9];
  const float h = static_cast<float>(buffer.Get<half>().GetPhyAddr()[33]);
  notes.Add(f != f);
  notes.Add(h != h);
}

__aicore__ void Reset(Notes& notes) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> first;
  TBuf<TPosition::VECCALC> second;
  pipe.InitBuffer(first, 128 * 1024);
  first.Get<int32_t>().SetValue(0, 31);
  SetVectorMask<float, MaskMode::NORMAL>(0, 1);
  pipe.Reset();
  pipe.InitBuffer(second, 192 * 1024);
  notes.Add(second.Get<int32_t>().GetPhyAddr()[0]);
  LocalTensor<float> t = second.Get<float>();
  Duplicate<float, false>(t, 3.0f, MASK_PLACEHOLDER, 1, 1, 8);
  notes.Add(t.GetValue(63) == 3.0f);
}

__aicore__ void Operators(Bench& bench) {
  LocalTensor<float> dst = bench.Dst<float>();
  LocalTensor<float> a = bench.Src0<float>();
  LocalTensor<float> b = bench.Src1<float>();
  for (uint32_t i = 0; i < 4; ++i) {
    LocalTensor<float> part = dst[64 * i];
    part.SetSize(64);
    if (i == 0) part = a + b;
    if (i == 1) part = a - b;
    if (i == 2) part = a * b;
    if (i == 3) part = a / b;
  }
}

// Global memory to global memory through one queue, without the vector unit.
__aicore__ void Bind(GM_ADDR dst, GM_ADDR src) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 2, 4096);
  GlobalTensor<float> in;
  GlobalTensor<float> out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(src));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dst));
  for (uint32_t i = 0; i < 4; ++i) {
    LocalTensor<float> t = queue.AllocTensor<float>();
    DataCopy(t, in[i * 1024], 1024);
    queue.EnQue(t);
    t = queue.DeQue<float>();
    DataCopy(out[i * 1024], t, 1024);
    queue.FreeTensor(t);
  }
}

__aicore__ void BlocksOf(GM_ADDR dst) {
  GlobalTensor<int32_t> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(dst));
  // A cache line, 16 numbers, for each block.
  out.SetValue(GetBlockIdx() * 16, GetBlockIdx());
  out.SetValue(GetBlockIdx() * 16 + 1, GetBlockNum());
}

__aicore__ void ReadTiling(Notes& notes, GM_ADDR src) {
  GET_TILING_DATA(td, src);
  notes.Add(td.rows);
  notes.Add(td.flag);
  notes.Add(static_cast<int64_t>(td.scale * 4));
  notes.Add(static_cast<int64_t>(td.length));
  notes.Add(td.sizes[2]);
  td.rows = 5;  // a copy: the bytes in global memory stay
  GET_TILING_DATA_WITH_STRUCT(Tiling, again, src);
  notes.Add(again.rows);
  GET_TILING_DATA_MEMBER(Tiling, flag, only, src);
  notes.Add(only);
}

// The second tensor was never enqueued: with empty_deque="stale" the first comes again.
__aicore__ void EmptyDeque(Notes& notes) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  LocalTensor<int32_t> t = queue.AllocTensor<int32_t>();
  t.SetValue(0, 42);
  queue.EnQue(t);
  t = queue.DeQue<int32_t>();
  notes.Add(t.GetValue(0));
  t = queue.DeQue<int32_t>();
  notes.Add(t.GetValue(0));
  queue.FreeTensor(t);
}

// Nine freed buffers hold nine V_MTE2 flags; there are eight.
__aicore__ void NoEventIds(Notes& notes) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 9, 32);
  LocalTensor<int32_t> held[9];
  for (int i = 0; i < 9; ++i) held[i] = queue.AllocTensor<int32_t>();
  for (int i = 0; i < 9; ++i) {
    queue.FreeTensor(held[i]);
    notes.Add(i);
  }
  for (int i = 0; i < 9; ++i) held[i] = queue.AllocTensor<int32_t>();
  notes.Add(100);
}

// A TPipe's constructor resets the mask.
__aicore__ void SecondPipe(Notes& notes) {
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(0, 3);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate<float, false>(t, 3.0f, MASK_PLACEHOLDER, 1, 1, 8);
  notes.Add(t.GetValue(63) == 3.0f);
  notes.Add(GetTPipePtr() == &pipe);
}

__aicore__ void Globals(Notes& notes, GM_ADDR src) {
  GlobalTensor<int32_t> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(src), 100);
  notes.Add(g.GetSize());
  notes.Add(g[10].GetSize());
  notes.Add(g[10].GetValue(5));
  notes.Add(g(3));
  notes.Add(g[4].GetPhyAddr() - g.GetPhyAddr());
  g.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
  GlobalTensor<int32_t> unknown;
  unknown.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(src));
  notes.Add(unknown.GetSize());
}

__aicore__ void Scalars(Notes& notes) {
  notes.Add(ToFloat(ToBfloat16(1.00390625f)) * 65536);  // a tie: 1 + 2^-8 rounds to even, 1
  notes.Add(ToFloat(ToBfloat16(1.01171875f)) * 65536);  // 1 + 3 * 2^-8 rounds to even, 1 + 4 * 2^-8
  notes.Add(ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(-2.5f));
  notes.Add(ScalarCast<float, int32_t, RoundMode::CAST_RINT>(2.5f));
  notes.Add(static_cast<float>(ScalarCast<float, half, RoundMode::CAST_FLOOR>(2049.0f)));
  half h = 2048;
  h = h + half(1.0f);
  notes.Add(static_cast<float>(h));
  notes.Add((half(3.0f) / half(2.0f)) * half(4.0f));
  if ASCEND_IS_AIV {
    notes.Add(GetSubBlockIdx() + 10 * GetTaskRation());
  }
  if ASCEND_IS_AIC {
    notes.Add(-1);
  }
}

__aicore__ void Print() {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  LocalTensor<half> t = buffer.Get<half>();
  Duplicate(t, half(1.5f), 32);
  t.SetValue(1, half(-2.0f));
  printf("n=%d x=%x f=%f h=%f %s\n", -3, 255u, 0.25f, half(0.5f), "text");
  AscendC::PRINTF("u=%u\n", 7u);
  DumpTensor(t, 5, 3);
}

__aicore__ void ReservedIds(Notes& notes) {
  TPipe pipe;
  notes.Add(pipe.AllocEventID<HardEvent::V_S>());
  notes.Add(pipe.AllocEventID<HardEvent::V_S>());
  notes.Add(pipe.FetchEventID(HardEvent::V_S));
  notes.Add(pipe.FetchEventID<HardEvent::V_S>());
  pipe.ReleaseEventID<HardEvent::V_S>(0);
  notes.Add(pipe.FetchEventID(HardEvent::V_S));
  notes.Add(pipe.AllocEventID<HardEvent::MTE2_V>());
}

extern "C" __global__ __aicore__ void queue(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  const Ask& ask = *reinterpret_cast<__gm__ Ask*>(ask_address);
  Notes notes(dst);
  switch (ask.op) {
    case kOrder: return Order(notes);
    case kStale: return Stale(notes);
    case kCounts: return Counts(notes);
    case kWholeBuffer: return WholeBuffer(notes);
    case kViews: return Views(notes);
    case kUnwritten: return Unwritten(notes);
    case kReset: return Reset(notes);
    case kOperators: {
      Bench bench(dst, src0, src1, ask_address);
      Operators(bench);
      return bench.Store();
    }
    case kBind: return Bind(dst, src0);
    case kBlocks: return BlocksOf(dst);
    case kTiling: return ReadTiling(notes, src0);
    case kKey:
      if (TILING_KEY_IS(1)) {
        notes.Add(1);
      } else if (TILING_KEY_IS(10000000000000000001UL)) {
        notes.Add(2);
      }
      return;
    case kEmptyDeque: return EmptyDeque(notes);
    case kNoEventIds: return NoEventIds(notes);
    case kSecondPipe: return SecondPipe(notes);
    case kGlobals: return Globals(notes, src0);
    case kScalars: return Scalars(notes);
    case kPrint: return Print();
    case kReservedIds: return ReservedIds(notes);
  }
}
