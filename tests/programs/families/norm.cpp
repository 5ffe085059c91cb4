// Normalisations. op: the function; extra: rows, columns, columns that count; scalar: epsilon; flag: no gamma and no beta, or the
// variance instead of its inverse root. Parts of 2048 bytes each: src0 holds x, gx or dy, and from 12288 on gamma, beta; src1 mean,
// variance; dst the matrix, and from 12288 on mean, variance.
#include "bench.h"

static constexpr LayerNormConfig kPlain = {true, true, false, false};
static constexpr NormalizeConfig kPlainNormalize = {ReducePattern::AR, -1, true, true, false};

template <class T>
__aicore__ LocalTensor<T> At(const LocalTensor<T>& buffer, uint32_t bytes) {
  return buffer[bytes / sizeof(T)];
}

template <class Tiling>
__aicore__ Tiling Bsh(const Ask& ask) {
  Tiling tiling;
  tiling.bLength = 1;
  tiling.sLength = static_cast<uint32_t>(ask.extra[0]);
  tiling.hLength = static_cast<uint32_t>(ask.extra[1]);
  tiling.originalHLength = static_cast<uint32_t>(ask.extra[2]);
  return tiling;
}

template <class T>
__aicore__ void Run(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>(), src = bench.Src0<T>();
  LocalTensor<T> second = At(bench.Src0<T>(), 6144);
  LocalTensor<T> gamma = At(bench.Src0<T>(), 12288), beta = At(bench.Src0<T>(), 14336);
  LocalTensor<T> mean = At(bench.Dst<T>(), 12288), variance = At(bench.Dst<T>(), 14336);
  LocalTensor<float> wide_mean = At(bench.Dst<float>(), 12288), wide_variance = At(bench.Dst<float>(), 14336);
  LocalTensor<uint8_t> scratch;
  const T epsilon = ask.Scalar<T>();
  const uint32_t rows = static_cast<uint32_t>(ask.extra[0]);
  const uint32_t columns = static_cast<uint32_t>(ask.extra[1]);
  const uint32_t live = static_cast<uint32_t>(ask.extra[2]);
  auto layer = Bsh<LayerNormTiling>(ask);
  auto deep = Bsh<DeepNormTiling>(ask);
  auto grad = Bsh<LayerNormGradTiling>(ask);
  switch (ask.op) {
    case 0: LayerNorm<T>(dst, mean, variance, src, gamma, beta, scratch, epsilon, layer); break;
    case 1:
      if (ask.flag == 0) {
        LayerNorm<T, T>(dst, wide_mean, wide_variance, src, gamma, beta, static_cast<float>(epsilon),
                        LayerNormPara{rows, live, columns}, LayerNormSeparateTiling{});
      } else {
        LayerNorm<T, T, false, kPlain>(dst, wide_mean, wide_variance, src, gamma, beta, static_cast<float>(epsilon),
                                       scratch, LayerNormPara{rows, live, columns}, LayerNormSeparateTiling{});
      }
      break;
    case 2: DeepNorm<T>(dst, mean, variance, src, second, beta, gamma, T(0.75f), epsilon, deep); break;
    case 3: RmsNorm<T>(dst, src, gamma, scratch, epsilon, Bsh<RmsNormTiling>(ask)); break;
    case 4:
      if (ask.flag == 0) {
        Normalize<T, T>(dst, wide_mean, bench.Src1<float>(), At(bench.Src1<float>(), 2048), src, gamma, beta, scratch,
                        static_cast<float>(epsilon), NormalizePara{rows, live, columns});
      } else {
        Normalize<T, T, false, kPlainNormalize>(dst, wide_mean, bench.Src1<float>(), At(bench.Src1<float>(), 2048), src,
                                                gamma, beta, static_cast<float>(epsilon),
                                                NormalizePara{rows, live, columns});
      }
      break;
    case 5:
      LayerNormGrad<T>(dst, At(bench.Dst<T>(), 6144), second, src, At(bench.Src1<T>(), 2048), bench.Src1<T>(), gamma,
                       scratch, epsilon, grad);
      break;
    case 6: LayerNormGradBeta<T>(mean, variance, src, second, scratch, Bsh<LayerNormGradBetaTiling>(ask)); break;
  }
}

// op 7: WelfordUpdate, flag: in place; op 8: WelfordFinalize, mode: 0 plain, 1 head and tail, 2 counts.
static constexpr WelfordUpdateConfig kInPlace = {true};
__aicore__ void Welford(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<float> mean = bench.Dst<float>(), square = At(bench.Dst<float>(), 8192);
  LocalTensor<float> in_mean = bench.Src0<float>(), in_square = At(bench.Src0<float>(), 8192);
  LocalTensor<uint8_t> scratch;
  const uint32_t columns = static_cast<uint32_t>(ask.extra[1]);
  if (ask.op == 7) {
    const WelfordUpdateParam param{1, columns, static_cast<uint32_t>(ask.extra[2]), ask.Scalar<float>()};
    if (ask.flag == 0) WelfordUpdate<half, float>(mean, square, in_mean, in_square, bench.Src1<half>(), param);
    if (ask.flag == 1) {
      WelfordUpdate<half, float, false, kInPlace>(mean, square, in_mean, in_square, bench.Src1<half>(), scratch, param);
    }
    return;
  }
  const uint32_t head = ask.mode == 1 ? static_cast<uint32_t>(ask.extra[2]) : columns;
  WelfordFinalizePara para{static_cast<uint32_t>(ask.extra[0]),
                           columns,
                           5,
                           head,
                           ask.mode == 1 ? 4u : 0u,
                           columns - head,
                           1.0f / static_cast<float>(columns),
                           ask.Scalar<float>()};
  if (ask.mode == 2) {
    WelfordFinalize<false>(mean, square, in_mean, in_square, bench.Src1<int32_t>(), para);
  } else {
    WelfordFinalize<false>(mean, square, in_mean, in_square, scratch, para);
  }
}

extern "C" __global__ __aicore__ void norm(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  if (bench.ask.op >= 7) {
    Welford(bench);
  } else {
    bench.ask.type == kHalf ? Run<half>(bench) : Run<float>(bench);
  }
  bench.Store();
}
