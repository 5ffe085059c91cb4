// A tensor as high-level functions see it: rows of equal length, in whole 32-byte blocks. Only the first elements of a
// row are data; the rest is padding.
#pragma once
#include "gn_twin/adv_api/wide_compute.h"
#include "gn_twin/tensor/operand.h"

namespace gn_twin {

struct Matrix {
  uint32_t rows;
  uint32_t columns;  // elements of a row, padding included
  uint32_t live;     // how many columns, from the first, are data; reductions leave out the rest of a row
  bool nz = false;   // fractal order: tiles of 16 columns, each with all rows, one after the other

  uint64_t Elements() const { return uint64_t{rows} * columns; }
  uint64_t At(uint32_t row, uint32_t column) const {
    return nz ? (uint64_t{column / 16} * rows + row) * 16 + column % 16 : uint64_t{row} * columns + column;
  }
  // Returns whether `live` is at most `columns`, and rows are whole blocks (in fractal order: whole tiles).
  bool Fits(uint32_t element_bytes) const {
    return live <= columns && (nz ? columns % 16 == 0 : columns * element_bytes % kBlockBytes == 0);
  }
};

inline void RequireMatrix(Operation& operation, const char* name, const Matrix& matrix, uint32_t element_bytes) {
  if (!matrix.Fits(element_bytes)) {
    operation.Stop("matrix-shape", {{"op", name},
                                    {"rows", matrix.rows},
                                    {"columns", matrix.columns},
                                    {"live", matrix.live},
                                    {"element_bytes", element_bytes}});
  }
}

// Returns the number of 256-byte repeats for the event of an operation on `elements` elements.
inline uint32_t RepeatsOf(uint64_t elements, uint32_t element_bytes) {
  return static_cast<uint32_t>((elements * element_bytes + kRepeatBytes - 1) / kRepeatBytes);
}

}  // namespace gn_twin
