// Arange (ArithProgression) fills a tensor with an arithmetic sequence; CumSum stores the running sums of a matrix's
// rows or columns.
//
// Source: docs/zh/api, 高阶API/索引计算/Arange and 数学计算/CumSum.
#pragma once
#include "gn_twin/adv_api/matrix.h"

namespace AscendC {

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
  bool isLastAxis{true};
  bool isReuseSource{false};
  bool outputLastRow{false};
  CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
inline constexpr CumSumConfig defaultCumSumConfig = {true, false, false, CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
struct CumSumInfo {
  uint32_t outter{0};  // rows
  uint32_t inner{0};   // columns; a row is whole 32-byte blocks
};

}  // namespace AscendC

namespace gn_twin {

// Sets element i to first + i * step. Real numbers are computed in double and rounded at the end; integers wrap around.
template <class T>
void RunArange(const char* name, Loc loc, const LocalTensor<T>& dst, T first, T step, int32_t count) {
  static_assert(kOneOf<T, int16_t, int32_t, half, float>, "Arange on Atlas A2 takes int16_t, int32_t, half, float");
  if constexpr (kObserved) {
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      if (count < 1) operation.Stop("reduce-count", {{"op", name}, {"count", count}});
      operation.Local("dst", dst, static_cast<uint64_t>(count) * sizeof(T), Access::Write);
      return operation.Emit(static_cast<uint64_t>(count), RepeatsOf(static_cast<uint64_t>(count), sizeof(T)),
                            sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  for (int32_t i = 0; i < count; ++i) {
    if constexpr (kOneOf<T, int16_t, int32_t>) {
      dst.Data()[i] =
          static_cast<T>(static_cast<uint32_t>(first) + static_cast<uint32_t>(i) * static_cast<uint32_t>(step));
    } else {
      dst.Data()[i] = rounder.To<T>(Wide(first) + i * Wide(step));
    }
  }
  ResetMaskRegister(ThisCore());
}

template <class T, bool kAlongRow, bool kLastRow>
void RunCumSum(Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& last_row, const LocalTensor<T>& src,
               const AscendC::CumSumInfo& info) {
  static_assert(kOneOf<T, half, float>, "CumSum on Atlas A2 takes half, float");
  const Matrix matrix{info.outter, info.inner, info.inner};
  const uint64_t bytes = matrix.Elements() * sizeof(T);
  if constexpr (kObserved) {
    EmitOperation("CumSum", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "CumSum", matrix, sizeof(T));
      operation.Local("dst", dst, bytes, Access::Write).Local("src", src, bytes, Access::Read);
      if constexpr (kLastRow) operation.Local("lastRow", last_row, uint64_t{matrix.columns} * sizeof(T), Access::Write);
      return operation.Emit(matrix.Elements(), RepeatsOf(matrix.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  const uint32_t lines = kAlongRow ? matrix.rows : matrix.columns;
  const uint32_t steps = kAlongRow ? matrix.columns : matrix.rows;
  for (uint32_t line = 0; line < lines; ++line) {
    double sum = 0.0;
    for (uint32_t step = 0; step < steps; ++step) {
      const uint64_t at = kAlongRow ? matrix.At(line, step) : matrix.At(step, line);
      sum += Wide(src.Data()[at]);
      dst.Data()[at] = rounder.To<T>(sum);
    }
  }
  if constexpr (kLastRow) {
    for (uint32_t i = 0; i < matrix.columns && matrix.rows > 0; ++i) {
      last_row.Data()[i] = dst.Data()[matrix.At(matrix.rows - 1, i)];
    }
  }
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

template <class T>
inline void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const int32_t count,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunArange("Arange", loc, dst, firstValue, diffValue, count);
}
// The name of Arange in 8.x.
template <class T>
inline void ArithProgression(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const int32_t count,
                             gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunArange("ArithProgression", loc, dst, firstValue, diffValue, count);
}

template <class T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
                   LocalTensor<uint8_t>& sharedTmpBuffer, const CumSumInfo& cumSumInfo,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Scratch scratch(sharedTmpBuffer);
  gn_twin::RunCumSum<T, config.isLastAxis, config.outputLastRow>(loc, dstTensor, lastRowTensor, srcTensor, cumSumInfo);
}
template <class T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
                   const CumSumInfo& cumSumInfo, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunCumSum<T, config.isLastAxis, config.outputLastRow>(loc, dstTensor, lastRowTensor, srcTensor, cumSumInfo);
}

}  // namespace AscendC
