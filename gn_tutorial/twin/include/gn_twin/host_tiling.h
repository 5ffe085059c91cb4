// Tiling structs as operator packages declare them, for the host part of samples, and shapes.
//
// The macros make plain structs with the layout that the device reads: a field at a multiple of its own size, a nested struct and the
// whole at a multiple of 8 (docs/zh/api, Utils-API/Tiling数据结构注册). Each field has set_ and get_ functions besides.
#pragma once
#include <stdint.h>
#include <string.h>

#include <initializer_list>
#include <string>
#include <vector>

#define BEGIN_TILING_DATA_DEF(NAME) struct alignas(8) NAME {
#define TILING_DATA_FIELD_DEF(TYPE, NAME)        \
  TYPE NAME = {};                                \
  void set_##NAME(TYPE value) { NAME = value; }  \
  TYPE get_##NAME() const { return NAME; }
#define TILING_DATA_FIELD_DEF_ARR(TYPE, COUNT, NAME)                                   \
  TYPE NAME[COUNT] = {};                                                               \
  void set_##NAME(const TYPE* values) { memcpy(NAME, values, sizeof(TYPE) * (COUNT)); } \
  TYPE* get_##NAME() { return NAME; }
#define TILING_DATA_FIELD_DEF_STRUCT(STRUCT, NAME) alignas(8) STRUCT NAME = {};
#define END_TILING_DATA_DEF }
// Which operator and tiling key a struct belongs to is a package's affair.
#define REGISTER_TILING_DATA_CLASS(OPERATOR, STRUCT)

namespace AscendC {

// The lengths of a tensor's axes, outermost first.
class TensorShape {
 public:
  TensorShape() = default;
  TensorShape(std::initializer_list<int64_t> lengths) : lengths_(lengths) {}
  explicit TensorShape(const std::vector<int64_t>& lengths) : lengths_(lengths) {}

  size_t GetDimNum() const { return lengths_.size(); }
  int64_t GetDim(size_t axis) const { return axis < lengths_.size() ? lengths_[axis] : 0; }
  void SetDim(size_t axis, int64_t length) { lengths_.at(axis) = length; }
  void AppendDim(int64_t length) { lengths_.push_back(length); }
  int64_t GetShapeSize() const {
    int64_t count = 1;
    for (int64_t length : lengths_) count *= length;
    return count;
  }

 private:
  std::vector<int64_t> lengths_;
};

}  // namespace AscendC

namespace ge {
using Shape = AscendC::TensorShape;
}
