// The SoftMax family. op: the function; extra: rows, columns, columns that count; mode: 1 fractal order; flag: update, front or scratch.
// dst: the matrix, then from byte 8192 on sums, maxima, factors, maxima of the piece, 1024 bytes each. src0: the matrix, then old sums
// and maxima. src1: the gradient.
#include "bench.h"

static constexpr SoftmaxConfig kNarrow = {true, 0, 0, SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC};

template <class T>
__aicore__ LocalTensor<T> Part(const LocalTensor<T>& buffer, uint32_t part) {
  return buffer[(8192 + 1024 * part) / sizeof(T)];
}

template <class T, class S, bool nz>
__aicore__ void Run(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  LocalTensor<T> grad = bench.Src1<T>();
  LocalTensor<S> sum = Part(bench.Dst<S>(), 0);
  LocalTensor<S> max = Part(bench.Dst<S>(), 1);
  LocalTensor<T> factor = Part(bench.Dst<T>(), 2);
  LocalTensor<S> here = Part(bench.Dst<S>(), 3);
  LocalTensor<S> old_sum = Part(bench.Src0<S>(), 0);
  LocalTensor<S> old_max = Part(bench.Src0<S>(), 1);
  LocalTensor<uint8_t> scratch;
  const uint32_t rows = static_cast<uint32_t>(ask.extra[0]);
  const uint32_t columns = static_cast<uint32_t>(ask.extra[1]);
  const SoftMaxShapeInfo shape{rows, columns, rows, static_cast<uint32_t>(ask.extra[2])};
  SoftMaxTiling tiling;
  tiling.srcM = rows;
  tiling.srcK = columns;
  switch (ask.op) {
    case 0:
      if (ask.flag == 0) SoftMax<T, false, false, nz>(dst, sum, max, src, tiling, shape);
      if (ask.flag == 1) SoftMax<T, false, false, nz>(dst, sum, max, src, scratch, tiling);
      if (ask.flag == 2) {
        const uint32_t lengths[] = {rows, columns};
        const uint32_t original[] = {rows, static_cast<uint32_t>(ask.extra[2])};
        src.SetShapeInfo(ShapeInfo(2, lengths, 2, original, DataFormat::ND));
        SoftMax<T, false, false, nz>(dst, sum, max, src[0], SoftMaxTiling{});
      }
      break;
    case 1: SimpleSoftMax<T, false, false, nz>(dst, old_sum, old_max, src, scratch, tiling, shape); break;
    case 2:
      if (ask.flag == 0) SoftmaxFlash<T>(dst, sum, max, src, factor, old_sum, old_max, tiling, false, shape);
      if (ask.flag == 1) SoftmaxFlash<T>(dst, sum, max, src, factor, old_sum, old_max, scratch, tiling, true, shape);
      break;
    case 3:
      if (ask.flag == 0) {
        SoftmaxFlashV2<T, false, false, false, nz>(dst, sum, max, src, factor, old_sum, old_max, tiling, shape);
      } else {
        SoftmaxFlashV2<T, true, false, false, nz>(dst, sum, max, src, factor, old_sum, old_max, scratch, tiling, shape);
      }
      break;
    case 4: SoftmaxGrad<T, false, nz>(dst, grad, src, tiling, ask.flag == 1, shape); break;
    case 5: SoftmaxGradFront<T, false, nz>(dst, grad, src, scratch, tiling, shape); break;
  }
  if constexpr (gn_twin::kSame<T, S>) {
    LogSoftMaxTiling log_tiling;
    switch (ask.op) {
      case 6: SoftMax<T>(dst, src, scratch, tiling, shape); break;
      case 7: LogSoftMax<T, false, nz>(dst, sum, max, src, scratch, log_tiling, shape); break;
      case 8:
        SoftmaxFlashV2<T, true, false, false, false, kNarrow>(dst, here, sum, max, src, factor, old_sum, old_max,
                                                              tiling, shape);
        break;
    }
  }
  if (ask.op == 9) {
    const bool found = AdjustSoftMaxRes<T, S>(dst, old_max, static_cast<uint32_t>(ask.scalar), T(-3.0f), shape);
    sum.SetValue(0, S(found ? 1.0f : 0.0f));
  }
}

// SoftmaxFlashV3: means behind the maxima of the piece.
__aicore__ void RunV3(Bench& bench) {
  const Ask& ask = bench.ask;
  const uint32_t rows = static_cast<uint32_t>(ask.extra[0]);
  const uint32_t columns = static_cast<uint32_t>(ask.extra[1]);
  const SoftMaxParams params{rows, columns, rows, columns, static_cast<uint32_t>(ask.count), 8, ask.Scalar<float>()};
  LocalTensor<float> out = bench.Src1<float>();
  LocalTensor<half> factor = bench.Src1<half>()[2048];
  LocalTensor<float> in = bench.Src1<float>()[2048];
  if (ask.flag == 0) {
    SoftmaxFlashV3<half, float>(bench.Dst<half>(), out, out[256], out[512], bench.Src0<half>(), factor, in, in[256],
                                in[512], SoftMaxTiling{}, params);
  } else {
    SoftmaxFlashV3<half, float, true>(bench.Dst<half>(), out, out[256], out[512], bench.Src0<half>(), factor, in,
                                      in[256], in[512], SoftMaxTiling{}, params);
  }
  DataCopy(bench.Dst<float>()[3072], out, 1024);
}

extern "C" __global__ __aicore__ void softmax(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  const Ask& ask = bench.ask;
  if (ask.op == 10) {
    RunV3(bench);
  } else if (ask.type == kFloat) {
    ask.mode == 1 ? Run<float, float, true>(bench) : Run<float, float, false>(bench);
  } else if (ask.type2 == kFloat) {
    ask.mode == 1 ? Run<half, float, true>(bench) : Run<half, float, false>(bench);
  } else {
    ask.mode == 1 ? Run<half, half, true>(bench) : Run<half, half, false>(bench);
  }
  bench.Store();
}
