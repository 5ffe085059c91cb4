// AscendQuant, AscendDequant, AscendAntiQuant: convert real numbers to integers of few bits, and back.
//
// The documentation says where the device rounds, and the twin rounds there too: AscendQuant computes in half,
// AscendDequant in float, AscendAntiQuant in half, or in float if the result is bfloat16_t. Source: docs/zh/api,
// 高阶API/量化操作. Forms that only other products have are left out.
#pragma once
#include "gn_twin/adv_api/activation.h"
#include "gn_twin/adv_api/matrix.h"
#include "gn_twin/basic_api/vector/cast.h"

namespace AscendC {

struct AscendQuantConfig {
  uint32_t calcCount = 0;
  uint32_t offsetCount = 0;
  uint32_t scaleCount = 0;
  uint32_t workLocalSize = 0;
};
inline constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW, DEQUANT_WITH_MULTI_ROW };
struct DequantParams {
  uint32_t m;         // rows
  uint32_t n;         // row stride of the source, in elements
  uint32_t calCount;  // elements of a row to compute
};

struct AntiQuantShapeInfo {
  uint32_t offsetHeight{0};
  uint32_t offsetWidth{0};
  uint32_t scaleHeight{0};
  uint32_t scaleWidth{0};
};

}  // namespace AscendC

namespace gn_twin {

// A factor or an offset: one number, or a tensor.
template <class T>
struct Given {
  const LocalTensor<T>* tensor = nullptr;
  T number{};
  T At(uint64_t i) const { return tensor != nullptr ? tensor->Data()[i] : number; }
  void Check(Operation& operation, const char* role, uint64_t elements) const {
    if (tensor != nullptr) operation.Local(role, *tensor, elements * sizeof(T), Access::Read);
  }
};
template <class T>
Given<T> Tensor(const LocalTensor<T>& tensor) {
  return {&tensor, T{}};
}
template <class T>
Given<T> Number(T number) {
  return {nullptr, number};
}

template <class T>
half AsHalf(T value) {
  return half(static_cast<float>(value));
}

// Computes src * scale + offset in half, rounding each step, and rounds the result to int8_t, ties to even. Tensors of
// scales and offsets repeat after `period` elements.
template <class T, class S>
void RunQuant(Loc loc, const LocalTensor<int8_t>& dst, const LocalTensor<T>& src, const Given<S>& scale,
              const Given<S>& offset, uint32_t period, uint32_t count) {
  static_assert(kOneOf<T, half, float>, "AscendQuant on Atlas A2 takes half, float");
  RequireApart("AscendQuant", loc, dst.template ReinterpretCast<uint8_t>(), count,
               src.template ReinterpretCast<uint8_t>(), uint64_t{count} * sizeof(T));
  if constexpr (kObserved) {
    EmitOperation("AscendQuant", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      if (scale.tensor != nullptr && (period == 0 || count % period != 0 || period % 32 != 0)) {
        operation.Stop("quant-scales", {{"scales", period}, {"count", count}});
      }
      operation.Local("dst", dst, count, Access::Write).Local("src", src, uint64_t{count} * sizeof(T), Access::Read);
      scale.Check(operation, "scale", period);
      offset.Check(operation, "offset", period);
      return operation.Emit(count, RepeatsOf(count, sizeof(T)), sizeof(T));
    });
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t channel = period == 0 ? 0 : i % period;
    const half scaled = AsHalf(src.Data()[i]) * AsHalf(scale.At(channel));
    dst.Data()[i] = IntegerFrom<int8_t, RoundMode::CAST_RINT>(static_cast<float>(scaled + AsHalf(offset.At(channel))));
  }
  ResetMaskRegister(ThisCore());
}

// Returns a scale as a float. A uint64_t has the float's bits in its lower half.
template <class S>
float ScaleFloat(S scale) {
  if constexpr (kSame<S, uint64_t>) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(scale));
  } else {
    return static_cast<float>(scale);
  }
}

template <class D, class S>
inline constexpr bool kDequantTypes =
    (kSame<D, half> && kSame<S, uint64_t>) || (kOneOf<D, float, bfloat16_t> && kOneOf<S, float, bfloat16_t>);

// Sets dst to float(src) * scale for the first calCount elements of each row. Rows of dst begin at whole blocks. In
// mode SINGLE_ROW, one row is split into rows of calCount elements if these are whole blocks of dst and divide the row.
template <class D, class S>
void RunDequant(Loc loc, const LocalTensor<D>& dst, const LocalTensor<int32_t>& src, const Given<S>& scale,
                AscendC::DequantParams params, AscendC::DeQuantMode mode) {
  static_assert(kDequantTypes<D, S>,
                "AscendDequant on Atlas A2: half by uint64_t, or float or bfloat16_t by float or bfloat16_t");
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(D);
  if (mode == AscendC::DeQuantMode::DEQUANT_WITH_SINGLE_ROW && params.m == 1 && params.calCount > 0 &&
      params.calCount % kPerBlock == 0 && params.n % params.calCount == 0) {
    params = {params.n / params.calCount, params.calCount, params.calCount};
  }
  const Matrix in{params.m, params.n, params.calCount};
  const Matrix out{params.m, (params.n + kPerBlock - 1) / kPerBlock * kPerBlock, params.calCount};
  if constexpr (kObserved) {
    EmitOperation("AscendDequant", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "AscendDequant", in, sizeof(int32_t));
      operation.Local("dst", dst, out.Elements() * sizeof(D), Access::Write);
      operation.Local("src", src, in.Elements() * sizeof(int32_t), Access::Read);
      scale.Check(operation, "deqScale", in.live);
      RequireApart("AscendDequant", loc, dst.template ReinterpretCast<uint8_t>(), out.Elements() * sizeof(D),
                   src.template ReinterpretCast<uint8_t>(), in.Elements() * sizeof(int32_t));
      return operation.Emit(in.Elements(), RepeatsOf(in.Elements(), sizeof(int32_t)), sizeof(int32_t));
    });
  }
  for (uint32_t row = 0; row < in.rows; ++row) {
    for (uint32_t column = 0; column < in.live; ++column) {
      const float value = static_cast<float>(src.Data()[in.At(row, column)]) * ScaleFloat(scale.At(column));
      dst.Data()[out.At(row, column)] = D(value);
    }
  }
  ResetMaskRegister(ThisCore());
}

// Returns the rows and columns of a scale or an offset: 1, 1 for a number; else height and width if neither is 0, else
// the shape in the tensor's ShapeInfo, else that in the ShapeInfo of `other`; 0, 0 if none gives a shape.
template <class T>
Matrix GivenShape(const Given<T>& given, const Given<T>* other, uint32_t height, uint32_t width) {
  if (given.tensor == nullptr) return {1, 1, 1};
  if (height != 0 && width != 0) return {height, width, width};
  AscendC::ShapeInfo info = given.tensor->GetShapeInfo();
  if (info.shapeDim == 0 && other != nullptr) info = other->tensor->GetShapeInfo();
  if (info.shapeDim == 0) return {0, 0, 0};
  const uint32_t columns = info.shape[info.shapeDim - 1];
  return {columns == 0 ? 0 : static_cast<uint32_t>(GetShapeSize(info)) / columns, columns, columns};
}

// Sets dst to (src + offset) * scale. src is [K, N], or [N, K] (transposed). Each offset and scale applies to a group
// of neighbours along K, for one index along N.
template <class D, bool kTransposed>
void RunAntiQuant(Loc loc, const LocalTensor<D>& dst, const LocalTensor<int8_t>& src, const Given<D>* offset,
                  const Given<D>& scale, uint32_t k, const AscendC::AntiQuantShapeInfo& info) {
  static_assert(kOneOf<D, half, bfloat16_t>, "AscendAntiQuant on Atlas A2 gives half, bfloat16_t");
  const uint64_t count = src.GetSize();
  const uint32_t n = k == 0 ? 0 : static_cast<uint32_t>(count / k);
  const Matrix data{kTransposed ? n : k, kTransposed ? k : n, kTransposed ? k : n};
  const Matrix scales = GivenShape(scale, offset, info.scaleHeight, info.scaleWidth);
  const Matrix offsets = offset == nullptr ? scales : GivenShape(*offset, &scale, info.offsetHeight, info.offsetWidth);
  const uint32_t groups = kTransposed ? scales.columns : scales.rows;
  if constexpr (kObserved) {
    EmitOperation("AscendAntiQuant", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      const uint32_t across = kTransposed ? scales.rows : scales.columns;
      const bool one = scale.tensor == nullptr;
      if (k == 0 || count % k != 0 || offsets.rows != scales.rows || offsets.columns != scales.columns ||
          (!one && (groups == 0 || k % groups != 0 || across != n))) {
        operation.Stop("anti-quant-shape",
                       {{"k", k}, {"n", n}, {"rows", scales.rows}, {"columns", scales.columns}, {"count", count}});
      }
      operation.Local("dst", dst, count * sizeof(D), Access::Write).Local("src", src, count, Access::Read);
      if (offset != nullptr) offset->Check(operation, "offset", offsets.Elements());
      scale.Check(operation, "scale", scales.Elements());
      RequireApart("AscendAntiQuant", loc, dst.template ReinterpretCast<uint8_t>(), count * sizeof(D),
                   src.template ReinterpretCast<uint8_t>(), count);
      return operation.Emit(count, RepeatsOf(count, sizeof(D)), sizeof(D));
    });
  }
  const uint32_t group = scale.tensor == nullptr || groups == 0 ? 1 : k / groups;
  for (uint32_t row = 0; row < data.rows; ++row) {
    for (uint32_t column = 0; column < data.columns; ++column) {
      const uint64_t at = data.At(row, column);
      const uint64_t given = scale.tensor == nullptr ? 0
                             : kTransposed           ? scales.At(row, column / group)
                                                     : scales.At(row / group, column);
      float value = static_cast<float>(src.Data()[at]);
      if (offset != nullptr) value = static_cast<float>(value + static_cast<float>(offset->At(given)));
      if constexpr (kSame<D, half>) value = static_cast<float>(half(value));
      dst.Data()[at] = D(value * static_cast<float>(scale.At(given)));
    }
  }
  ResetMaskRegister(ThisCore());
}

inline uint32_t Or(uint32_t first, uint32_t second) { return first != 0 ? first : second; }

}  // namespace gn_twin

namespace AscendC {

#define GNT_QUANT(HEAD, CONFIG, SCRATCH)                                                                               \
  HEAD inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src, SCRATCH const float scale,   \
                               const float offset, const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) { \
    gn_twin::RunQuant(loc, dst, src, gn_twin::Number(scale), gn_twin::Number(offset), 0,                               \
                      gn_twin::Or(CONFIG.calcCount, calCount));                                                        \
  }                                                                                                                    \
  HEAD inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src, SCRATCH const float scale,   \
                               const float offset, gn_twin::Loc loc = gn_twin::Loc::here()) {                          \
    gn_twin::RunQuant(loc, dst, src, gn_twin::Number(scale), gn_twin::Number(offset), 0,                               \
                      gn_twin::Or(CONFIG.calcCount, src.GetSize()));                                                   \
  }                                                                                                                    \
  HEAD inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,                              \
                               SCRATCH const LocalTensor<T>& scaleTensor, const T offset, const uint32_t scaleCount,   \
                               const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) {                     \
    gn_twin::RunQuant(loc, dst, src, gn_twin::Tensor(scaleTensor), gn_twin::Number(offset),                            \
                      gn_twin::Or(CONFIG.scaleCount, scaleCount), gn_twin::Or(CONFIG.calcCount, calCount));            \
  }                                                                                                                    \
  HEAD inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,                              \
                               SCRATCH const LocalTensor<T>& scaleTensor, const T offset,                              \
                               gn_twin::Loc loc = gn_twin::Loc::here()) {                                              \
    gn_twin::RunQuant(loc, dst, src, gn_twin::Tensor(scaleTensor), gn_twin::Number(offset),                            \
                      gn_twin::Or(CONFIG.scaleCount, scaleTensor.GetSize()),                                           \
                      gn_twin::Or(CONFIG.calcCount, src.GetSize()));                                                   \
  }                                                                                                                    \
  HEAD inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,                              \
                               SCRATCH const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor,          \
                               const uint32_t scaleCount, const uint32_t, const uint32_t calCount,                     \
                               gn_twin::Loc loc = gn_twin::Loc::here()) {                                              \
    gn_twin::RunQuant(loc, dst, src, gn_twin::Tensor(scaleTensor), gn_twin::Tensor(offsetTensor),                      \
                      gn_twin::Or(CONFIG.scaleCount, scaleCount), gn_twin::Or(CONFIG.calcCount, calCount));            \
  }                                                                                                                    \
  HEAD inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,                              \
                               SCRATCH const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor,          \
                               gn_twin::Loc loc = gn_twin::Loc::here()) {                                              \
    gn_twin::RunQuant(loc, dst, src, gn_twin::Tensor(scaleTensor), gn_twin::Tensor(offsetTensor),                      \
                      gn_twin::Or(CONFIG.scaleCount, scaleTensor.GetSize()),                                           \
                      gn_twin::Or(CONFIG.calcCount, src.GetSize()));                                                   \
  }
// Every form exists twice: with a configuration, or with the type of dst (int8_t) as the first template argument.
#define GNT_QUANT_CONFIG \
  template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
#define GNT_QUANT_TYPED                                   \
  template <class D, class T, bool isReuseSource = false> \
    requires gn_twin::kSame<D, int8_t>
GNT_QUANT(GNT_QUANT_CONFIG, config, )
GNT_QUANT(GNT_QUANT_CONFIG, config, GNT_WITH_SCRATCH)
GNT_QUANT(GNT_QUANT_TYPED, ASCEND_QUANT_DEFAULT_CFG, )
GNT_QUANT(GNT_QUANT_TYPED, ASCEND_QUANT_DEFAULT_CFG, GNT_WITH_SCRATCH)
#undef GNT_QUANT
#undef GNT_QUANT_CONFIG
#undef GNT_QUANT_TYPED

#define GNT_DEQUANT(SCRATCH)                                                                                         \
  template <class D, class S, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>                               \
  inline void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<int32_t>& src, const LocalTensor<S>& scale, \
                            SCRATCH DequantParams params, gn_twin::Loc loc = gn_twin::Loc::here()) {                 \
    gn_twin::RunDequant(loc, dst, src, gn_twin::Tensor(scale), params, mode);                                        \
  }                                                                                                                  \
  template <class D, class S, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>                               \
    requires gn_twin::kOneOf<S, float, bfloat16_t>                                                                   \
  inline void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<int32_t>& src, const S scale,               \
                            SCRATCH DequantParams params, gn_twin::Loc loc = gn_twin::Loc::here()) {                 \
    gn_twin::RunDequant(loc, dst, src, gn_twin::Number(scale), params, mode);                                        \
  }
GNT_DEQUANT()
GNT_DEQUANT(GNT_WITH_SCRATCH)
#undef GNT_DEQUANT

#define GNT_ANTI_QUANT(SCRATCH)                                                                                    \
  template <class InputDataType, class D, bool isTranspose>                                                        \
  inline void AscendAntiQuant(const LocalTensor<D>& dst, const LocalTensor<InputDataType>& src,                    \
                              const LocalTensor<D>& offset, const LocalTensor<D>& scale, SCRATCH const uint32_t k, \
                              const AntiQuantShapeInfo& shapeInfo = {}, gn_twin::Loc loc = gn_twin::Loc::here()) { \
    const gn_twin::Given<D> offsets = gn_twin::Tensor(offset);                                                     \
    gn_twin::RunAntiQuant<D, isTranspose>(loc, dst, src, &offsets, gn_twin::Tensor(scale), k, shapeInfo);          \
  }                                                                                                                \
  template <class InputDataType, class D, bool isTranspose>                                                        \
  inline void AscendAntiQuant(const LocalTensor<D>& dst, const LocalTensor<InputDataType>& src, const D offset,    \
                              const D scale, SCRATCH const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {},   \
                              gn_twin::Loc loc = gn_twin::Loc::here()) {                                           \
    const gn_twin::Given<D> offsets = gn_twin::Number(offset);                                                     \
    gn_twin::RunAntiQuant<D, isTranspose>(loc, dst, src, &offsets, gn_twin::Number(scale), k, shapeInfo);          \
  }
GNT_ANTI_QUANT()
GNT_ANTI_QUANT(GNT_WITH_SCRATCH)
#undef GNT_ANTI_QUANT

// The forms without an offset. They exist only with scratch memory.
template <class InputDataType, class D, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<D>& dst, const LocalTensor<InputDataType>& src,
                            const LocalTensor<D>& scale, const gn_twin::Scratch&, const uint32_t k,
                            const AntiQuantShapeInfo& shapeInfo = {}, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunAntiQuant<D, isTranspose>(loc, dst, src, nullptr, gn_twin::Tensor(scale), k, shapeInfo);
}
template <class InputDataType, class D, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<D>& dst, const LocalTensor<InputDataType>& src, const D scale,
                            const gn_twin::Scratch&, const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {},
                            gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunAntiQuant<D, isTranspose>(loc, dst, src, nullptr, gn_twin::Number(scale), k, shapeInfo);
}

}  // namespace AscendC
