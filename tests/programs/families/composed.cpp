// High-level functions of two operands, sequences, masks, pads, reductions with a pattern, quantisation. op: the function; count:
// elements; extra: shape; flag, mode: variants.
#include "bench.h"

static constexpr CumSumConfig kRows = {true, false, false};
static constexpr CumSumConfig kColumns = {false, false, true};

template <class T>
__aicore__ void Two(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>(), a = bench.Src0<T>(), b = bench.Src1<T>();
  LocalTensor<uint8_t> scratch;
  const uint32_t count = static_cast<uint32_t>(ask.count);
  if constexpr (gn_twin::kOneOf<T, half, float>) {
    switch (ask.op) {
      case 0: ask.flag == 0 ? GeGLU(dst, a, b, count) : GeGLU(dst, a, b, scratch); break;
      case 1: ask.flag == 0 ? SwiGLU(dst, a, b, 1.5f, scratch, count) : SwiGLU(dst, a, b, 1.5f); break;
      case 3: ask.flag == 0 ? Fmod(dst, a, b, count) : Fmod<T, false>(dst, a, b, scratch); break;
      case 4:
        ask.flag == 0 ? ClampMax(dst, a, ask.Scalar<T>(), count) : ClampMax(dst, a, scratch, ask.Scalar<T>(), count);
        break;
      case 5:
        ask.flag == 0 ? ClampMin(dst, a, ask.Scalar<T>(), count) : ClampMin(dst, a, scratch, ask.Scalar<T>(), count);
        break;
      case 6: ask.flag == 0 ? Exp<T, 12>(dst, a, count) : Exp<T, 0, false>(dst, a, scratch, count); break;
      case 7:
        ask.flag == 0
            ? CumSum<T, kRows>(dst, b, a, {static_cast<uint32_t>(ask.extra[0]), static_cast<uint32_t>(ask.extra[1])})
            : CumSum<T, kColumns>(dst, b, a, scratch,
                                  {static_cast<uint32_t>(ask.extra[0]), static_cast<uint32_t>(ask.extra[1])});
        if (ask.flag == 1) DataCopy(dst[8192 / sizeof(T)], b, static_cast<uint32_t>(ask.extra[1]));
        break;
    }
    if (ask.op == 8) {  // flag 0: Select, 1: the other way round; mode: DropOut with this mode
      SelectWithBytesMaskShapeInfo info;
      DropOutShapeInfo drop;
      info.firstAxis = drop.firstAxis = static_cast<uint32_t>(ask.extra[0]);
      info.srcLastAxis = drop.srcLastAxis = static_cast<uint32_t>(ask.extra[1]);
      info.maskLastAxis = drop.maskLastAxis = static_cast<uint32_t>(ask.extra[2]);
      LocalTensor<uint8_t> mask = bench.Src1<uint8_t>();
      switch (ask.flag) {
        case 0: Select(dst, a, ask.Scalar<T>(), mask, scratch, info); break;
        case 1: SelectWithBytesMask(dst, ask.Scalar<T>(), a, mask, scratch, info); break;
        case 2: DropOut(dst, a, mask, static_cast<float>(ask.Scalar<T>()), drop); break;
        case 3: DropOut<T, false, 4>(dst, a, mask, scratch, static_cast<float>(ask.Scalar<T>()), drop); break;
      }
    }
    if (ask.op == 9) {
      const uint32_t shape[] = {static_cast<uint32_t>(ask.extra[0]), static_cast<uint32_t>(ask.extra[1])};
      using namespace AscendC::Pattern::Reduce;
      switch (ask.mode) {
        case 0:
          ask.flag == 0 ? ReduceMax<T, AR>(dst, a, shape, true) : ReduceMax<T, RA>(dst, a, scratch, shape, true);
          break;
        case 1:
          ask.flag == 0 ? ReduceMin<T, AR>(dst, a, shape, true) : ReduceMin<T, RA>(dst, a, scratch, shape, true);
          break;
        case 5: Mean(dst, a, MeanParams{shape[0], shape[1], static_cast<uint32_t>(ask.extra[2])}); break;
      }
      if constexpr (gn_twin::kSame<T, float>) {
        switch (ask.mode) {
          case 2:
            ask.flag == 0 ? ReduceSum<T, AR>(dst, a, shape, true) : ReduceSum<T, RA>(dst, a, scratch, shape, true);
            break;
          case 3:
            ask.flag == 0 ? ReduceProd<T, AR>(dst, a, shape, true) : ReduceProd<T, RA>(dst, a, scratch, shape, true);
            break;
          case 4:
            ask.flag == 0 ? ReduceMean<T, AR>(dst, a, shape, true) : ReduceMean<T, RA>(dst, a, scratch, shape, true);
            break;
        }
      }
    }
    if (ask.op == 12) {  // extra: scales
      const uint32_t scales = static_cast<uint32_t>(ask.extra[0]);
      if (ask.flag == 0) AscendQuant<T>(bench.Dst<int8_t>(), a, 3.0f, -1.5f, count);
      if (ask.flag == 1) AscendQuant<T>(bench.Dst<int8_t>(), a, scratch, b, T(2.5f), scales, count);
      if (ask.flag == 2) AscendQuant<int8_t, T>(bench.Dst<int8_t>(), a, b, b[4096 / sizeof(T)], scales, scales, count);
    }
  }
  if constexpr (gn_twin::kOneOf<T, half, float, bfloat16_t>) {
    if (ask.op == 2) ask.flag == 0 ? ReGlu(dst, a, b, count) : ReGlu(dst, a, b, scratch, count);
  }
  if constexpr (gn_twin::kOneOf<T, int16_t, uint16_t>) {
    if (ask.op == 10) ask.flag == 0 ? Xor(dst, a, b, count) : Xor(dst, a, b, scratch);
  }
  if constexpr (gn_twin::kOneOf<T, int16_t, int32_t, half, float>) {
    if (ask.op == 11) {
      T step;
      __builtin_memcpy(&step, &ask.low, sizeof(T));
      ask.flag == 0 ? Arange<T>(dst, ask.Scalar<T>(), step, static_cast<int32_t>(count))
                    : ArithProgression<T>(dst, ask.Scalar<T>(), step, static_cast<int32_t>(count));
    }
  }
  if constexpr (!gn_twin::kSame<T, bfloat16_t>) {
    PadTiling pad;
    pad.srcHeight = static_cast<uint32_t>(ask.extra[0]);
    pad.srcWidth = static_cast<uint32_t>(ask.extra[1]);
    pad.srcOriWidth = static_cast<uint32_t>(ask.extra[2]);
    PadParams params{static_cast<uint16_t>(ask.mode), static_cast<uint16_t>(ask.extra[3]), -7};
    UnPadTiling unpad;
    unpad.srcHeight = pad.srcHeight;
    unpad.srcWidth = pad.srcWidth;
    UnPadParams off{0, static_cast<uint16_t>(ask.extra[3])};
    if (ask.op == 13) Pad(dst, a, params, pad);
    if (ask.op == 14) UnPad(dst, a, off, scratch, unpad);
  }
}

// op 15: AscendDequant; type: of the result; type2: of the scale; flag: one scale. op 16: AscendAntiQuant; mode: transposed.
template <class D, class S>
__aicore__ void Dequant(Bench& bench) {
  const Ask& ask = bench.ask;
  const DequantParams params{static_cast<uint32_t>(ask.extra[0]), static_cast<uint32_t>(ask.extra[1]),
                             static_cast<uint32_t>(ask.extra[2])};
  LocalTensor<uint8_t> scratch;
  if (ask.flag == 0) AscendDequant(bench.Dst<D>(), bench.Src0<int32_t>(), bench.Src1<S>(), params);
  if constexpr (!gn_twin::kSame<S, uint64_t>) {
    if (ask.flag == 1) AscendDequant(bench.Dst<D>(), bench.Src0<int32_t>(), ask.Scalar<S>(), scratch, params);
  }
}
template <class D, bool transposed>
__aicore__ void AntiQuant(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<int8_t> src = bench.Src0<int8_t>();
  src.SetSize(static_cast<uint32_t>(ask.count));
  LocalTensor<D> offset = bench.Src1<D>(), scale = bench.Src1<D>()[2048];
  const uint32_t lengths[] = {static_cast<uint32_t>(ask.extra[1]), static_cast<uint32_t>(ask.extra[2])};
  LocalTensor<uint8_t> scratch;
  const uint32_t k = static_cast<uint32_t>(ask.extra[0]);
  switch (ask.flag) {
    case 0:
      AscendAntiQuant<int8_t, D, transposed>(bench.Dst<D>(), src, offset, scale, k,
                                             {lengths[0], lengths[1], lengths[0], lengths[1]});
      break;
    case 1:
      offset.SetShapeInfo(ShapeInfo(2, lengths));
      AscendAntiQuant<int8_t, D, transposed>(bench.Dst<D>(), src, offset, scale, scratch, k);
      break;
    case 2: AscendAntiQuant<int8_t, D, transposed>(bench.Dst<D>(), src, D(1.5f), D(0.25f), k); break;
  }
}

extern "C" __global__ __aicore__ void composed(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  const Ask& ask = bench.ask;
  if (ask.op == 15) {
    if (ask.type == kHalf) Dequant<half, uint64_t>(bench);
    if (ask.type == kFloat) ask.type2 == kFloat ? Dequant<float, float>(bench) : Dequant<float, bfloat16_t>(bench);
    if (ask.type == kBfloat16)
      ask.type2 == kFloat ? Dequant<bfloat16_t, float>(bench) : Dequant<bfloat16_t, bfloat16_t>(bench);
  } else if (ask.op == 16) {
    if (ask.type == kHalf) ask.mode == 0 ? AntiQuant<half, false>(bench) : AntiQuant<half, true>(bench);
    if (ask.type == kBfloat16) ask.mode == 0 ? AntiQuant<bfloat16_t, false>(bench) : AntiQuant<bfloat16_t, true>(bench);
  } else {
    switch (ask.type) {
      case kInt16: Two<int16_t>(bench); break;
      case kUint16: Two<uint16_t>(bench); break;
      case kInt32: Two<int32_t>(bench); break;
      case kUint32: Two<uint32_t>(bench); break;
      case kHalf: Two<half>(bench); break;
      case kFloat: Two<float>(bench); break;
      case kBfloat16: Two<bfloat16_t>(bench); break;
    }
  }
  bench.Store();
}
