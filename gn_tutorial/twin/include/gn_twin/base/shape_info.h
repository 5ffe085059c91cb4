// The shape that a kernel may attach to a tensor (SetShapeInfo). Some high-level functions read it there.
//
// On the device every tensor carries the whole struct, 72 bytes, through every copy and view. Here a tensor carries an
// index into a table of the core, in which equal shapes share one entry, because kernels use few different ones.
// Source: docs/zh/api, 基础API/辅助数据结构/ShapeInfo.
#pragma once
#include <stdint.h>

#include "gn_twin/base/constants.h"

namespace AscendC {

inline constexpr uint32_t K_MAX_DIM = 8;

struct ShapeInfo {
  ShapeInfo() = default;
  ShapeInfo(uint8_t dims, const uint32_t lengths[], uint8_t original_dims, const uint32_t original_lengths[],
            DataFormat format)
      : shapeDim(dims), originalShapeDim(original_dims), dataFormat(format) {
    for (uint32_t i = 0; i < dims && i < K_MAX_DIM; ++i) shape[i] = lengths[i];
    for (uint32_t i = 0; i < original_dims && i < K_MAX_DIM; ++i) originalShape[i] = original_lengths[i];
  }
  ShapeInfo(uint8_t dims, const uint32_t lengths[], DataFormat format = DataFormat::ND)
      : ShapeInfo(dims, lengths, dims, lengths, format) {}
  bool operator==(const ShapeInfo&) const = default;

  uint8_t shapeDim = 0;
  uint8_t originalShapeDim = 0;
  uint32_t shape[K_MAX_DIM] = {};
  uint32_t originalShape[K_MAX_DIM] = {};
  DataFormat dataFormat = DataFormat::ND;
};

// Returns the product of all lengths.
inline int GetShapeSize(const ShapeInfo& info) {
  int product = 1;
  for (uint32_t i = 0; i < info.shapeDim; ++i) product *= static_cast<int>(info.shape[i]);
  return product;
}

}  // namespace AscendC

namespace gn_twin {

// Holds the different shapes of one core, numbered from 1. A tensor without a shape has the number 0.
class ShapeTable {
 public:
  ShapeTable() = default;
  ~ShapeTable() { delete[] shapes_; }
  ShapeTable(const ShapeTable&) = delete;
  ShapeTable& operator=(const ShapeTable&) = delete;

  uint32_t Number(const AscendC::ShapeInfo& info) {
    for (uint32_t i = 0; i < count_; ++i) {
      if (shapes_[i] == info) return i + 1;
    }
    if (count_ == room_) Grow();
    shapes_[count_] = info;
    return ++count_;
  }
  AscendC::ShapeInfo Shape(uint32_t number) const {
    return number == 0 || number > count_ ? AscendC::ShapeInfo{} : shapes_[number - 1];
  }

 private:
  void Grow() {
    room_ = room_ == 0 ? 16 : 2 * room_;
    AscendC::ShapeInfo* more = new AscendC::ShapeInfo[room_];
    for (uint32_t i = 0; i < count_; ++i) more[i] = shapes_[i];
    delete[] shapes_;
    shapes_ = more;
  }

  AscendC::ShapeInfo* shapes_ = nullptr;
  uint32_t count_ = 0;
  uint32_t room_ = 0;
};

}  // namespace gn_twin
