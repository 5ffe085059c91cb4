// Compare, CompareScalar, Compares and Select.
#include "bench.h"

enum Op : int64_t { kCompare, kCompareScalar, kCompares, kSelectTensor, kSelectScalar };

template <class T, class U>
__aicore__ void Bits(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<U> dst = bench.Dst<U>();
  LocalTensor<T> src0 = bench.Src0<T>();
  LocalTensor<T> src1 = bench.Src1<T>();
  const T scalar = ask.Scalar<T>();
  const CMPMODE mode = static_cast<CMPMODE>(ask.mode);
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
  const uint32_t count = static_cast<uint32_t>(ask.count);
  const uint64_t mask = ask.low;
  const uint64_t array[2] = {ask.low, ask.high};
  if (ask.form == kCounter) {
    OutsideMask<T>(ask);
    if (ask.op == kCompare) Compare<T, U, false>(dst, src0, src1, mode, MASK_PLACEHOLDER, repeat, ask.Binary());
    if (ask.op == kCompareScalar)
      CompareScalar<T, U, false>(dst, src0, scalar, mode, MASK_PLACEHOLDER, repeat, ask.Unary());
    SetMaskNorm();
    ResetMask();
  }
  switch (ask.op) {
    case kCompare:
      if (ask.form == kCount) Compare(dst, src0, src1, mode, count);
      if (ask.form == kLanes) Compare(dst, src0, src1, mode, mask, repeat, ask.Binary());
      if (ask.form == kBits) Compare(dst, src0, src1, mode, array, repeat, ask.Binary());
      break;
    case kCompareScalar:
      if (ask.form == kCount) CompareScalar(dst, src0, scalar, mode, count);
      if (ask.form == kLanes) CompareScalar(dst, src0, scalar, mode, mask, repeat, ask.Unary());
      if (ask.form == kBits) CompareScalar(dst, src0, scalar, mode, array, repeat, ask.Unary());
      break;
    case kCompares:
      if (ask.form == kCount) Compares(dst, src0, scalar, mode, count);
      if (ask.form == kLanes) Compares(dst, src0, scalar, mode, mask, repeat, ask.Unary());
      if (ask.form == kBits) Compares(dst, src0, scalar, mode, array, repeat, ask.Unary());
      break;
  }
}

// The bits of the selection are in the last 2 KiB of src1's buffer.
template <class T, class U>
__aicore__ void Choose(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src0 = bench.Src0<T>();
  LocalTensor<T> src1 = bench.Src1<T>();
  LocalTensor<U> bits = bench.Src1<U>()[(kBufferBytes - 2048) / sizeof(U)];
  const T scalar = ask.Scalar<T>();
  const SELMODE mode = static_cast<SELMODE>(ask.mode);
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
  const uint32_t count = static_cast<uint32_t>(ask.count);
  const uint64_t mask = ask.low;
  uint64_t array[2] = {ask.low, ask.high};
  if (ask.op == kSelectTensor) {
    if (ask.form == kCount) Select(dst, bits, src0, src1, mode, count);
    if (ask.form == kLanes) Select(dst, bits, src0, src1, mode, mask, repeat, ask.Binary());
    if (ask.form == kBits) Select(dst, bits, src0, src1, mode, array, repeat, ask.Binary());
  } else {
    if (ask.form == kCount) Select(dst, bits, src0, scalar, mode, count);
    if (ask.form == kLanes) Select(dst, bits, src0, scalar, mode, mask, repeat, ask.Binary());
    if (ask.form == kBits) Select(dst, bits, src0, scalar, mode, array, repeat, ask.Binary());
  }
}

extern "C" __global__ __aicore__ void compare(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  const Ask& ask = bench.ask;
  if (ask.op < kSelectTensor) {
    if (ask.type == kHalf) Bits<half, uint8_t>(bench);
    if (ask.type == kFloat && ask.type2 == kUint8) Bits<float, uint8_t>(bench);
    if (ask.type == kFloat && ask.type2 == kInt8) Bits<float, int8_t>(bench);
    if (ask.type == kInt32) Bits<int32_t, uint8_t>(bench);
  } else {
    if (ask.type == kHalf && ask.type2 == kUint8) Choose<half, uint8_t>(bench);
    if (ask.type == kHalf && ask.type2 == kUint16) Choose<half, uint16_t>(bench);
    if (ask.type == kFloat && ask.type2 == kUint8) Choose<float, uint8_t>(bench);
    if (ask.type == kFloat && ask.type2 == kUint32) Choose<float, uint32_t>(bench);
    if (ask.type == kFloat && ask.type2 == kInt64) Choose<float, uint64_t>(bench);
  }
  bench.Store();
}
