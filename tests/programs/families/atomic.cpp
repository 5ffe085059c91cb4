// Copies to global memory that combine. op: Add, Max, Min; low rows of high bytes each from src0, extra[0] bytes into dst; every block
// does the same copy.
#include "bench.h"

enum Op : int64_t { kAdd, kMax, kMin };

template <class T>
__aicore__ void Combine(const Ask& ask, GM_ADDR dst, GM_ADDR src0) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, kBufferBytes);
  GlobalTensor<T> in;
  GlobalTensor<T> out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(src0));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dst + ask.extra[0]));
  LocalTensor<T> values = buffer.Get<T>();
  DataCopy(values, in, values.GetSize());
  PipeBarrier<PIPE_ALL>();
  switch (ask.op) {
    case kAdd: SetAtomicAdd<T>(); break;
    case kMax: SetAtomicMax<T>(); break;
    case kMin: SetAtomicMin<T>(); break;
  }
  const DataCopyExtParams rows(static_cast<uint16_t>(ask.low), static_cast<uint32_t>(ask.high), 0,
                               static_cast<uint32_t>(ask.dst_blk), 0);
  ask.form == kCount ? DataCopy(out, values, static_cast<uint32_t>(ask.count)) : DataCopyPad(out, values, rows);
  SetAtomicNone();
  // Overwrites again, outside the part that the test combines.
  if (ask.flag != 0) DataCopy(out[values.GetSize() - 32], values, 32);
}

extern "C" __global__ __aicore__ void atomic(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  const Ask& ask = *reinterpret_cast<__gm__ Ask*>(ask_address);
  switch (ask.type) {
    case kInt8: Combine<int8_t>(ask, dst, src0); break;
    case kInt16: Combine<int16_t>(ask, dst, src0); break;
    case kHalf: Combine<half>(ask, dst, src0); break;
    case kBfloat16: Combine<bfloat16_t>(ask, dst, src0); break;
    case kInt32: Combine<int32_t>(ask, dst, src0); break;
    case kFloat: Combine<float>(ask, dst, src0); break;
  }
}
