// The accumulate idiom, and what calls leave in the mask register.
#include "bench.h"

template <class T>
__aicore__ void Fold(Bench& bench) {
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  Add(dst, src, dst, static_cast<uint64_t>(bench.ask.low), static_cast<uint8_t>(bench.ask.repeat), {1, 1, 1, 0, 8, 0});
}

// Op 100 and more: sets a mask of 5 lanes, makes one call that the test names, then duplicates 7 with the mask that is left, from
// element 2048 on.
__aicore__ void MaskAfter(Bench& bench) {
  LocalTensor<float> dst = bench.Dst<float>();
  LocalTensor<float> src = bench.Src0<float>();
  LocalTensor<float> out = dst[2048];
  SetMaskNorm();
  SetVectorMask<float, MaskMode::NORMAL>(0, 31);
  switch (bench.ask.op) {
    case 100: Add(dst, src, src, 24); break;
    case 101: Adds(dst, src, 1.0f, 24); break;
    case 102: Exp(dst, src, 24); break;
    case 103: Cast(dst.ReinterpretCast<int32_t>(), src, RoundMode::CAST_RINT, 24); break;
    case 104: Duplicate(dst, 1.0f, 24); break;
    case 105: Axpy(dst, src, 1.0f, 24); break;
    case 106: ReduceSum(dst, src, bench.Src1<float>(), 24); break;
    case 107: Compare(dst.ReinterpretCast<uint8_t>(), src, src, CMPMODE::LT, 64); break;
    case 108: CompareScalar(dst.ReinterpretCast<uint8_t>(), src, 1.0f, CMPMODE::LT, 64); break;
    case 119: {  // 64 lanes of float are a whole repeat: the register is then full for 128 lanes of half too
      Adds(dst, src, 1.0f, static_cast<uint64_t>(64), 1, {1, 1, 8, 8});
      LocalTensor<half> halves = out.ReinterpretCast<half>();
      Duplicate<half, false>(halves, half(7.0f), MASK_PLACEHOLDER, 1, 1, 8);
      ResetMask();
      return;
    }
    case 120: {
      SetMaskCount();
      Duplicate(out, 7.0f, static_cast<uint64_t>(7), 1, 1, 8);
      SetMaskNorm();
      ResetMask();
      return;
    }
  }
  Duplicate<float, false>(out, 7.0f, MASK_PLACEHOLDER, 1, 1, 8);
  ResetMask();
}

extern "C" __global__ __aicore__ void accumulate(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask) {
  Bench bench(dst, src0, src1, ask);
  if (bench.ask.op >= 100) {
    MaskAfter(bench);
  } else {
    switch (bench.ask.type) {
      case kHalf: Fold<half>(bench); break;
      case kInt32: Fold<int32_t>(bench); break;
      case kFloat: Fold<float>(bench); break;
    }
  }
  bench.Store();
}
