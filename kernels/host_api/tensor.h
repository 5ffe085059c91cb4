// A tensor as its descriptor says it is, checked when it was described: no count or address of it can overflow.
#pragma once
#include <string>
#include <vector>

#include "failure.h"
#include "handles.h"

namespace gn_host {

constexpr uint64_t kMostAxes = 8;

struct Tensor {
  GnDataType dtype = GN_FLOAT;
  std::vector<int64_t> dims, strides;  // elements
  int64_t count = 1;                   // elements of the view
  int64_t extent = 0;                  // elements from the first of the view to its last, 0 if it is empty
  int64_t offset = 0;
  uint8_t* storage = nullptr;
  const GnTensor* handle = nullptr;  // whose description this is; the descriptor itself may be gone

  uint32_t ItemBytes() const;  // 0: a type that no operator here takes
  uint8_t* First() const { return count == 0 ? nullptr : storage + offset * ItemBytes(); }
  uint64_t Bytes() const { return static_cast<uint64_t>(count) * ItemBytes(); }  // of the elements alone
  uint64_t ExtentBytes() const { return static_cast<uint64_t>(extent) * ItemBytes(); }
  // The elements stand one behind the other in the order of their indices.
  bool Contiguous() const;
  // The same elements, axis axes[i] as number i.
  Tensor Permuted(const std::vector<size_t>& axes) const;
  // The axes as memory has them: the largest stride first.
  std::vector<size_t> AxesInMemory() const;
};

using Tensors = Table<Tensor, GnTensor>;

// Fills *made, or says what is wrong with the description. The arguments are those of GnCreateTensor.
Outcome Describe(const int64_t* dims, uint64_t rank, GnDataType dtype, const int64_t* strides, int64_t offset,
                 const int64_t* storage_dims, uint64_t storage_rank, void* data, Tensor* made);

// "(2, 8, 16)", "float16".
std::string ShapeText(const std::vector<int64_t>& dims);
std::string TypeText(GnDataType dtype);

}  // namespace gn_host
