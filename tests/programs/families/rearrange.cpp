// Compact, transpose, and the compare register. What each operation reads from the record is said at its case.
#include "bench.h"

enum Op : int64_t {
  kGatherPattern,
  kGatherBits,
  kTile,
  kPlanes,
  kTo5HD,
  kTo5HDAddresses,
  kTo5HDTensor,
  kCompareRegister,
  kSelectRegister,
  kSelectAddress,
  kSelectScalar,
  kReduceRegisters
};

// mode: pattern; flag: counter mode; count: elements of one repeat; extra[0]: blocks between repeats of the bits. The number of
// elements kept lands behind the last element that is.
template <class T, class U>
__aicore__ void Gather(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  const GatherMaskParams params(static_cast<uint8_t>(ask.src0_blk), static_cast<uint16_t>(ask.repeat),
                                static_cast<uint16_t>(ask.src0_rep), static_cast<uint8_t>(ask.extra[0]));
  uint64_t kept = 0;
  SetMaskCount();
  if (ask.op == kGatherPattern) {
    GatherMask(dst, bench.Src0<T>(), static_cast<uint8_t>(ask.mode), ask.flag != 0, static_cast<uint32_t>(ask.count),
               params, kept);
  } else {
    GatherMask(dst, bench.Src0<T>(), bench.Src1<U>(), ask.flag != 0, static_cast<uint32_t>(ask.count), params, kept);
  }
  // Normal mode and the lanes 0 to 63 are what the instruction leaves: the last block shows which lanes a later one writes.
  LocalTensor<T> tail = dst[dst.GetSize() - 256 / sizeof(T)];
  Adds<int32_t, false>(tail.template ReinterpretCast<int32_t>(), tail.template ReinterpretCast<int32_t>(), 1,
                       MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
  dst.template ReinterpretCast<uint32_t>().SetValue(static_cast<uint32_t>((kept * sizeof(T) + 3) / 4),
                                                    static_cast<uint32_t>(kept));
}

// extra: n, c, h, w; mode: TransposeType.
template <class T>
__aicore__ void Planes(Bench& bench) {
  const Ask& ask = bench.ask;
  TBuf<TPosition::VECCALC> scratch;
  bench.pipe.InitBuffer(scratch, 100 * 1024);
  Transpose(bench.Dst<T>(), bench.Src0<T>(), scratch.Get<uint8_t>(),
            TransposeParamsExt(static_cast<uint16_t>(ask.extra[0]), static_cast<uint16_t>(ask.extra[1]),
                               static_cast<uint16_t>(ask.extra[2]), static_cast<uint16_t>(ask.extra[3]),
                               static_cast<TransposeType>(ask.mode)));
}

// flag: bit 0 dstHighHalf, bit 1 srcHighHalf; extra[0], extra[1]: bytes between the blocks of the lists.
template <class T>
__aicore__ void To5HD(Bench& bench) {
  const Ask& ask = bench.ask;
  const TransDataTo5HDParams params((ask.flag & 1) != 0, (ask.flag & 2) != 0, static_cast<uint8_t>(ask.repeat),
                                    static_cast<uint16_t>(ask.dst_rep), static_cast<uint16_t>(ask.src0_rep));
  LocalTensor<T> dst[16];
  LocalTensor<T> src[16];
  uint64_t to[16];
  uint64_t from[16];
  LocalTensor<uint64_t> lists = bench.Src1<uint64_t>();
  for (int32_t i = 0; i < 16; ++i) {
    dst[i] = bench.Dst<T>()[static_cast<uint32_t>(i * ask.extra[0] / sizeof(T))];
    src[i] = bench.Src0<T>()[static_cast<uint32_t>(i * ask.extra[1] / sizeof(T))];
    to[i] = reinterpret_cast<uint64_t>(dst[i].GetPhyAddr());
    from[i] = reinterpret_cast<uint64_t>(src[i].GetPhyAddr());
    lists.SetValue(i, to[i]);
    lists.SetValue(16 + i, from[i]);
  }
  if (ask.op == kTo5HD) TransDataTo5HD<T>(dst, src, params);
  if (ask.op == kTo5HDAddresses) TransDataTo5HD<T>(to, from, params);
  if (ask.op == kTo5HDTensor) TransDataTo5HD<T>(lists, lists[16], params);
}

// mode: the comparison; form: mask as number or array. Select: low, high fill the mask register; the register is loaded from src1's
// last 16 bytes, its address, or its first element.
template <class T>
__aicore__ void Register(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src0 = bench.Src0<T>();
  LocalTensor<T> src1 = bench.Src1<T>();
  LocalTensor<uint8_t> bits = bench.Src1<uint8_t>()[kBufferBytes - 4096];
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
  const uint64_t mask[2] = {ask.low, ask.high};
  SetVectorMask<T, MaskMode::NORMAL>(ask.high, ask.low);
  switch (ask.op) {
    case kCompareRegister:
      if (ask.form == kLanes) Compare(src0, src1, static_cast<CMPMODE>(ask.mode), ask.low, ask.Binary());
      if (ask.form == kBits) Compare(src0, src1, static_cast<CMPMODE>(ask.mode), mask, ask.Binary());
      if (ask.form == kOutside) {
        Compare<T, false>(src0, src1, static_cast<CMPMODE>(ask.mode), MASK_PLACEHOLDER, ask.Binary());
      }
      GetCmpMask(dst);
      break;
    case kSelectRegister:
      SetCmpMask(bits);
      Select<T, SELMODE::VSEL_CMPMASK_SPR>(dst, src0, src1, repeat, ask.Binary());
      break;
    case kSelectAddress: {
      LocalTensor<uint64_t> address = bench.Src0<uint64_t>()[kBufferBytes / 8 - 16];
      address.SetValue(0, reinterpret_cast<uint64_t>(bits.GetPhyAddr()));
      SetCmpMask(address);
      Select<T, SELMODE::VSEL_TENSOR_TENSOR_MODE>(dst, src0, src1, repeat, ask.Binary());
      break;
    }
    case kSelectScalar:
      SetCmpMask(src1);
      Select(dst, bits, src0, repeat, ask.Binary());
      break;
    case kReduceRegisters: {
      T value;
      T index;
      ReduceSum(dst, src0, src1, static_cast<int32_t>(ask.count));
      dst.SetValue(1, GetReduceRepeatSumSpr<T>());
      dst.SetValue(2, GetAccVal<T>());
      WholeReduceMax(src1, src0, static_cast<int32_t>(256 / sizeof(T)), repeat, 1, 1, 8);
      GetReduceRepeatMaxMinSpr(value, index);
      dst.SetValue(3, value);
      dst.SetValue(4, index);
      WholeReduceMin(src1, src0, static_cast<int32_t>(256 / sizeof(T)), repeat, 1, 1, 8);
      GetReduceMaxMinCount(value, index);
      dst.SetValue(5, value);
      dst.SetValue(6, index);
      ReduceMax(src1, src0, src1[64], static_cast<int32_t>(ask.count), true);
      GetReduceRepeatMaxMinSpr(value);
      dst.SetValue(7, value);
      break;
    }
  }
}

template <class T, class U>
__aicore__ void Any(Bench& bench) {
  switch (bench.ask.op) {
    case kGatherPattern:
    case kGatherBits:
      if constexpr (sizeof(T) > 1) Gather<T, U>(bench);
      break;
    case kTile:
      if constexpr (sizeof(T) == 2) Transpose(bench.ask.flag != 0 ? bench.Src0<T>() : bench.Dst<T>(), bench.Src0<T>());
      break;
    case kPlanes: Planes<T>(bench); break;
    case kTo5HD:
    case kTo5HDAddresses:
    case kTo5HDTensor: To5HD<T>(bench); break;
    default:
      if constexpr (gn_twin::kOneOf<T, half, float>) Register<T>(bench);
  }
}

extern "C" __global__ __aicore__ void rearrange(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  switch (bench.ask.type) {
    case kInt8: Any<int8_t, uint8_t>(bench); break;
    case kUint8: Any<uint8_t, uint8_t>(bench); break;
    case kInt16: Any<int16_t, uint16_t>(bench); break;
    case kUint16: Any<uint16_t, uint16_t>(bench); break;
    case kHalf: Any<half, uint16_t>(bench); break;
    case kInt32: Any<int32_t, uint32_t>(bench); break;
    case kUint32: Any<uint32_t, uint32_t>(bench); break;
    case kFloat: Any<float, uint32_t>(bench); break;
  }
  bench.Store();
}
