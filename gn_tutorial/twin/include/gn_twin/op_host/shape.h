// Shapes and tensors as tiling functions and shape inference see them: gert::Shape, gert::StorageShape, gert::Tensor.
//
// Source: the graph engine's documentation (gert::Shape, StorageShape, Tensor) as operator projects use them. A shape
// has at most 25 axes; a scalar has no axis and one element. For an axis past the 25th, and for a product beyond 64
// bits, the result is INT64_MIN.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <initializer_list>
#include <vector>

#include "gn_twin/host/graph_types.h"
#include "gn_twin/op_host/notes.h"

namespace gert {

class Shape {
 public:
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidDimValue = INT64_MIN;

  Shape() = default;
  Shape(std::initializer_list<int64_t> lengths) {
    for (int64_t length : lengths) AppendDim(length);
  }

  size_t GetDimNum() const { return many_; }
  int64_t GetDim(size_t axis) const { return axis < kMaxDimNum ? lengths_[axis] : kInvalidDimValue; }
  int64_t operator[](size_t axis) const { return GetDim(axis); }
  int64_t& operator[](size_t axis) { return axis < kMaxDimNum ? lengths_[axis] : beyond_; }
  int64_t GetShapeSize() const {
    int64_t count = 1;
    for (size_t axis = 0; axis < many_; ++axis) {
      if (__builtin_mul_overflow(count, lengths_[axis], &count)) return kInvalidDimValue;
    }
    return count;
  }
  bool IsScalar() const { return many_ == 0; }
  void SetScalar() { many_ = 0; }
  void SetDimNum(size_t many) { many_ = many <= kMaxDimNum ? many : kMaxDimNum; }
  void SetDim(size_t axis, int64_t length) {
    if (axis < kMaxDimNum) lengths_[axis] = length;
  }
  // Appends one axis. Does nothing if the shape has 25 axes already.
  Shape& AppendDim(int64_t length) {
    if (many_ < kMaxDimNum) lengths_[many_++] = length;
    return *this;
  }
  bool operator==(const Shape& other) const {
    if (many_ != other.many_) return false;
    for (size_t axis = 0; axis < many_; ++axis) {
      if (lengths_[axis] != other.lengths_[axis]) return false;
    }
    return true;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }

 private:
  size_t many_ = 0;
  int64_t lengths_[kMaxDimNum] = {};
  int64_t beyond_ = kInvalidDimValue;
};

// The origin shape, as the author of the network wrote it, and the storage shape, as the tensor lies in memory. In the
// format ND both are the same.
class StorageShape {
 public:
  StorageShape() = default;
  StorageShape(std::initializer_list<int64_t> origin, std::initializer_list<int64_t> storage)
      : origin_(origin), storage_(storage) {}
  StorageShape(const Shape& origin, const Shape& storage) : origin_(origin), storage_(storage) {}

  const Shape& GetOriginShape() const { return origin_; }
  const Shape& GetStorageShape() const { return storage_; }
  Shape& MutableOriginShape() { return origin_; }
  Shape& MutableStorageShape() { return storage_; }
  bool operator==(const StorageShape& other) const { return origin_ == other.origin_ && storage_ == other.storage_; }
  bool operator!=(const StorageShape& other) const { return !(*this == other); }

 private:
  Shape origin_, storage_;
};

class StorageFormat {
 public:
  StorageFormat() = default;
  StorageFormat(ge::Format origin, ge::Format storage) : origin_(origin), storage_(storage) {}
  ge::Format GetOriginFormat() const { return origin_; }
  ge::Format GetStorageFormat() const { return storage_; }

 private:
  ge::Format origin_ = ge::FORMAT_ND, storage_ = ge::FORMAT_ND;
};

enum TensorPlacement : int32_t { kOnDeviceHbm, kOnHost, kFollowing, kTensorPlacementEnd };

// Type and format of an input or output, without its data.
class CompileTimeTensorDesc {
 public:
  CompileTimeTensorDesc() = default;
  CompileTimeTensorDesc(ge::DataType type, ge::Format format) : type_(type), format_(format, format) {}
  ge::DataType GetDataType() const { return type_; }
  const StorageFormat& GetFormat() const { return format_; }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }

 private:
  ge::DataType type_ = ge::DT_FLOAT;
  StorageFormat format_;
};

// An input with its shape and type. Host code has the data only of inputs whose values matter (ValueDepend). For other
// inputs GetData() returns null; in CANN it returns a device address, which host code may not read.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const StorageShape& shape, const CompileTimeTensorDesc& desc, std::vector<uint8_t> data, bool has_data)
      : shape_(shape), desc_(desc), data_(static_cast<std::vector<uint8_t>&&>(data)), has_data_(has_data) {}

  const Shape& GetStorageShape() const { return shape_.GetStorageShape(); }
  const Shape& GetOriginShape() const { return shape_.GetOriginShape(); }
  const StorageShape& GetShape() const { return shape_; }
  int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
  ge::DataType GetDataType() const { return desc_.GetDataType(); }
  ge::Format GetStorageFormat() const { return desc_.GetStorageFormat(); }
  ge::Format GetOriginFormat() const { return desc_.GetOriginFormat(); }
  const StorageFormat& GetFormat() const { return desc_.GetFormat(); }
  TensorPlacement GetPlacement() const { return has_data_ ? kOnHost : kOnDeviceHbm; }
  size_t GetSize() const { return data_.size(); }
  template <class T>
  const T* GetData(gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return static_cast<const T*>(GetAddr(loc));
  }
  const void* GetAddr(gn_twin::Loc loc = gn_twin::Loc::here()) const {
    if (has_data_) return data_.data();
    gn_twin::op_host::LastWithoutValues().file = loc.file;
    gn_twin::op_host::LastWithoutValues().line = loc.line;
    return nullptr;
  }

 private:
  StorageShape shape_;
  CompileTimeTensorDesc desc_;
  std::vector<uint8_t> data_;
  bool has_data_ = false;
};

}  // namespace gert
