// Shared parts of the normalisations: mean and variance of a row, and the matrix that a tiling struct describes.
#pragma once
#include "gn_twin/adv_api/activation.h"
#include "gn_twin/base/adv_tiling.h"
#include "gn_twin/adv_api/matrix.h"

namespace gn_twin {

struct Moments {
  double mean;
  double variance;  // divided by the row's length
};

// Returns the mean and variance of the first `live` elements of a row. value(column) gives an element as double.
template <class Value>
Moments MomentsOf(const Matrix& matrix, Value value) {
  double mean = 0.0;
  for (uint32_t column = 0; column < matrix.live; ++column) mean += value(column);
  mean /= matrix.live;
  double squares = 0.0;
  for (uint32_t column = 0; column < matrix.live; ++column) {
    const double off = value(column) - mean;
    squares += off * off;
  }
  return {mean, squares / matrix.live};
}

inline double InverseRoot(double x) { return 1.0 / __builtin_sqrt(x); }

// Returns the matrix that a tiling struct describes: bLength * sLength rows of hLength elements, of which the first
// originalHLength are data (all, if it is 0).
template <class Tiling>
Matrix BshMatrix(const Tiling& tiling) {
  return {tiling.bLength * tiling.sLength, tiling.hLength,
          tiling.originalHLength != 0 ? tiling.originalHLength : tiling.hLength};
}

template <class T>
uint64_t RowBytes(const Matrix& matrix) {
  return uint64_t{matrix.columns} * sizeof(T);
}

}  // namespace gn_twin
