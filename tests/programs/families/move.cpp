// Fill, rearrange and copy. extra: see each operation.
#include "bench.h"

enum Op : int64_t {
  kDuplicate,
  kCreateVecIndex,
  kBrcb,
  kGather,
  kCopy,
  kCopyInside,   // DataCopy from UB to UB
  kCopyIn,       // DataCopy from GM (src0) to UB
  kCopyOut,      // DataCopy from UB to GM (dst)
  kPadIn,        // DataCopyPad from GM (src0) to UB
  kPadOut,       // DataCopyPad from UB to GM (dst)
  kPadInLegacy,  // with the 16-bit structs
  kPadOutLegacy
};

template <class T>
__aicore__ void Words(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  LocalTensor<uint32_t> offsets = bench.Src1<uint32_t>();
  const T scalar = ask.Scalar<T>();
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
  const uint32_t count = static_cast<uint32_t>(ask.count);
  const uint64_t mask = ask.low;
  uint64_t bits[2] = {ask.low, ask.high};
  const uint32_t base = static_cast<uint32_t>(ask.extra[0]);
#define CALL_DUPLICATE(SET, MASK) \
  Duplicate<T, SET>(dst, scalar, MASK, repeat, static_cast<uint16_t>(ask.dst_blk), static_cast<uint8_t>(ask.dst_rep))
#define CALL_COPY(SET, MASK)                                                             \
  Copy<T, SET>(dst, src, MASK, repeat,                                                   \
               {static_cast<uint16_t>(ask.dst_blk), static_cast<uint16_t>(ask.src0_blk), \
                static_cast<uint16_t>(ask.dst_rep), static_cast<uint16_t>(ask.src0_rep)})
  switch (ask.op) {
    case kDuplicate: RUN_FORM(T, Duplicate(dst, scalar, static_cast<int32_t>(count)), CALL_DUPLICATE) break;
    case kBrcb:
      if (ask.form == kCounter) OutsideMask<T>(ask);
      Brcb(dst, src, repeat, {static_cast<uint16_t>(ask.dst_blk), static_cast<uint16_t>(ask.dst_rep)});
      SetMaskNorm();
      break;
    case kGather:
      if (ask.form == kCount) Gather(dst, src, offsets, base, count);
      if (ask.form == kLanes) Gather(dst, src, offsets, base, mask, repeat, static_cast<uint16_t>(ask.dst_rep));
      if (ask.form == kBits) Gather(dst, src, offsets, base, bits, repeat, static_cast<uint16_t>(ask.dst_rep));
      break;
    case kCopy: RUN_FORM(T, (void)0, CALL_COPY) break;
  }
}

template <class T>
__aicore__ void Index(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  const T first = ask.Scalar<T>();
  uint64_t bits[2] = {ask.low, ask.high};
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
  const uint16_t blk = static_cast<uint16_t>(ask.dst_blk);
  const uint8_t rep = static_cast<uint8_t>(ask.dst_rep);
  if (ask.form == kCount) CreateVecIndex(dst, first, static_cast<uint32_t>(ask.count));
  if (ask.form == kLanes) CreateVecIndex(dst, first, static_cast<uint64_t>(ask.low), repeat, blk, rep);
  if (ask.form == kBits) CreateVecIndex(dst, first, bits, repeat, blk, rep);
}

// low: block count, high: block length, src0_blk and dst_blk: gaps, extra[0]: first byte in global memory, extra[1..2]: left and right
// padding, flag: isPad, scalar: padding value. Form kCount: the count form of DataCopy.
template <class T>
__aicore__ void Transfer(Bench& bench, GM_ADDR dst_address, GM_ADDR src_address) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  GlobalTensor<T> in;
  GlobalTensor<T> out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(src_address + ask.extra[0]));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dst_address + ask.extra[0]));
  const uint32_t count = static_cast<uint32_t>(ask.count);
  const DataCopyParams rows(static_cast<uint16_t>(ask.low), static_cast<uint16_t>(ask.high),
                            static_cast<uint16_t>(ask.src0_blk), static_cast<uint16_t>(ask.dst_blk));
  const DataCopyExtParams wide(static_cast<uint16_t>(ask.low), static_cast<uint32_t>(ask.high),
                               static_cast<uint32_t>(ask.src0_blk), static_cast<uint32_t>(ask.dst_blk), 0);
  const uint8_t left = static_cast<uint8_t>(ask.extra[1]);
  const uint8_t right = static_cast<uint8_t>(ask.extra[2]);
  const T value = ask.Scalar<T>();
  // mode: an atomic operation, for the copies to global memory.
  if constexpr (sizeof(T) < 8) {
    if (ask.mode == 1) SetAtomicAdd<T>();
    if (ask.mode == 2) SetAtomicMax<T>();
    if (ask.mode == 3) SetAtomicMin<T>();
  }
  if (ask.extra[3] != 0) SetPadValue(static_cast<T>(static_cast<float>(ask.extra[3])));
  switch (ask.op) {
    case kCopyInside: ask.form == kCount ? DataCopy(dst, src, count) : DataCopy(dst, src, rows); break;
    case kCopyIn: ask.form == kCount ? DataCopy(dst, in, count) : DataCopy(dst, in, rows); break;
    case kCopyOut: ask.form == kCount ? DataCopy(out, src, count) : DataCopy(out, src, rows); break;
    case kPadIn: DataCopyPad(dst, in, wide, DataCopyPadExtParams<T>(ask.flag != 0, left, right, value)); break;
    case kPadInLegacy: DataCopyPad(dst, in, rows, DataCopyPadParams(ask.flag != 0, left, right, ask.scalar)); break;
    case kPadOut: DataCopyPad(out, src, wide); break;
    case kPadOutLegacy: DataCopyPad(out, src, rows); break;
  }
  SetAtomicNone();
}

extern "C" __global__ __aicore__ void move(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  const Ask& ask = bench.ask;
  if (ask.op == kCreateVecIndex) {
    switch (ask.type) {
      case kInt16: Index<int16_t>(bench); break;
      case kHalf: Index<half>(bench); break;
      case kInt32: Index<int32_t>(bench); break;
      case kFloat: Index<float>(bench); break;
    }
  } else if (ask.op >= kCopyInside) {
    switch (ask.type) {
      case kInt8: Transfer<int8_t>(bench, dst, src0); break;
      case kInt16: Transfer<int16_t>(bench, dst, src0); break;
      case kInt32: Transfer<int32_t>(bench, dst, src0); break;
      case kHalf: Transfer<half>(bench, dst, src0); break;
      case kBfloat16: Transfer<bfloat16_t>(bench, dst, src0); break;
      case kFloat: Transfer<float>(bench, dst, src0); break;
      case kInt64: Transfer<int64_t>(bench, dst, src0); break;
    }
  } else {
    switch (ask.type) {
      case kInt16: Words<int16_t>(bench); break;
      case kUint16: Words<uint16_t>(bench); break;
      case kHalf: Words<half>(bench); break;
      case kBfloat16: Words<bfloat16_t>(bench); break;
      case kInt32: Words<int32_t>(bench); break;
      case kUint32: Words<uint32_t>(bench); break;
      case kFloat: Words<float>(bench); break;
    }
  }
  const bool to_global = ask.op == kCopyOut || ask.op == kPadOut || ask.op == kPadOutLegacy;
  if (!to_global) bench.Store();
}
