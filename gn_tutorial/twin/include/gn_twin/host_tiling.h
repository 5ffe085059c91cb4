// Tiling structs as operator packages declare them, for the host part of samples, and shapes.
//
// The macros make plain structs with the layout that the device reads: a field at a multiple of its own size, a nested struct and the
// whole at a multiple of 8 (docs/zh/api, Utils-API/Tiling数据结构注册). Each field has set_ and get_ functions besides.
#pragma once
#include <stdint.h>
#include <string.h>

#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#define BEGIN_TILING_DATA_DEF(NAME) struct alignas(8) NAME {
#define TILING_DATA_FIELD_DEF(TYPE, NAME)       \
  TYPE NAME = {};                               \
  void set_##NAME(TYPE value) { NAME = value; } \
  TYPE get_##NAME() const { return NAME; }
#define TILING_DATA_FIELD_DEF_ARR(TYPE, COUNT, NAME)                                    \
  TYPE NAME[COUNT] = {};                                                                \
  void set_##NAME(const TYPE* values) { memcpy(NAME, values, sizeof(TYPE) * (COUNT)); } \
  TYPE* get_##NAME() { return NAME; }
#define TILING_DATA_FIELD_DEF_STRUCT(STRUCT, NAME) alignas(8) STRUCT NAME = {};
#define END_TILING_DATA_DEF                                                                  \
  size_t GetDataSize() const { return sizeof(*this); }                                       \
  void SaveToBuffer(void* at, size_t room) const {                                           \
    memcpy(at, static_cast<const void*>(this), room < sizeof(*this) ? room : sizeof(*this)); \
  }                                                                                          \
  }
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

// How much scratch memory an operation of the high-level API asks for: Get...MaxMinTmpSize(shape, ..., max, min). The twin's
// operations use none; what is answered lies between the documented bounds' usual values, one and four times the tensor's
// bytes as float, so that samples reserve it as they would for the device.
inline uint32_t GntScratch(const TensorShape& shape, uint32_t times) {
  const int64_t bytes = (shape.GetShapeSize() * 4 + 255) / 256 * 256;
  const int64_t most = 64 * 1024;
  return static_cast<uint32_t>(times * (bytes < most / 4 ? bytes : most / 4));
}
#define GNT_SCRATCH(NAME)                                   \
  template <class... A>                                     \
    requires(sizeof...(A) >= 2)                             \
  void NAME(const TensorShape& shape, A&&... rest) {        \
    auto all = std::forward_as_tuple(rest...);              \
    std::get<sizeof...(A) - 2>(all) = GntScratch(shape, 4); \
    std::get<sizeof...(A) - 1>(all) = GntScratch(shape, 1); \
  }
#define GNT_LEAST_SCRATCH(NAME)                     \
  template <class... A>                             \
  uint32_t NAME(const TensorShape& shape, A&&...) { \
    return GntScratch(shape, 1);                    \
  }
GNT_SCRATCH(GetAcosMaxMinTmpSize)
GNT_SCRATCH(GetAcoshMaxMinTmpSize)
GNT_SCRATCH(GetAsinMaxMinTmpSize)
GNT_SCRATCH(GetAsinhMaxMinTmpSize)
GNT_SCRATCH(GetAtanMaxMinTmpSize)
GNT_SCRATCH(GetAtanhMaxMinTmpSize)
GNT_SCRATCH(GetAxpyMaxMinTmpSize)
GNT_SCRATCH(GetCeilMaxMinTmpSize)
GNT_SCRATCH(GetClampMaxMinTmpSize)
GNT_SCRATCH(GetCosMaxMinTmpSize)
GNT_SCRATCH(GetCoshMaxMinTmpSize)
GNT_SCRATCH(GetCumSumMaxMinTmpSize)
GNT_SCRATCH(GetErfMaxMinTmpSize)
GNT_SCRATCH(GetErfcMaxMinTmpSize)
GNT_SCRATCH(GetExpMaxMinTmpSize)
GNT_SCRATCH(GetFloorMaxMinTmpSize)
GNT_SCRATCH(GetFmodMaxMinTmpSize)
GNT_SCRATCH(GetFracMaxMinTmpSize)
GNT_SCRATCH(GetGeGLUMaxMinTmpSize)
GNT_SCRATCH(GetLogMaxMinTmpSize)
GNT_SCRATCH(GetPowerMaxMinTmpSize)
GNT_SCRATCH(GetReGluMaxMinTmpSize)
GNT_SCRATCH(GetRoundMaxMinTmpSize)
GNT_SCRATCH(GetSigmoidMaxMinTmpSize)
GNT_SCRATCH(GetSignMaxMinTmpSize)
GNT_SCRATCH(GetSiluTmpSize)
GNT_SCRATCH(GetSinMaxMinTmpSize)
GNT_SCRATCH(GetSinhMaxMinTmpSize)
GNT_SCRATCH(GetSumMaxMinTmpSize)
GNT_SCRATCH(GetSwiGLUMaxMinTmpSize)
GNT_SCRATCH(GetSwishTmpSize)
GNT_SCRATCH(GetTanMaxMinTmpSize)
GNT_SCRATCH(GetTanhMaxMinTmpSize)
GNT_SCRATCH(GetTruncMaxMinTmpSize)
GNT_SCRATCH(GetXorMaxMinTmpSize)
GNT_LEAST_SCRATCH(GetGeluMinTmpSize)
#undef GNT_SCRATCH
#undef GNT_LEAST_SCRATCH

}  // namespace AscendC

namespace ge {
using Shape = AscendC::TensorShape;
}
