// Descriptors of tensors: what they may say, and what follows from it.
#include "tensor.h"

#include <algorithm>
#include <cinttypes>

namespace gn_host {
namespace {

// The numbers of aclDataType, for texts; 0 bytes where no operator here takes it.
struct Type {
  GnDataType number;
  const char* name;
  uint32_t bytes;
};
constexpr Type kTypes[] = {
    {GN_FLOAT, "float32", 4}, {GN_FLOAT16, "float16", 2},
    {GN_BF16, "bfloat16", 2}, {2, "int8", 0},
    {3, "int32", 0},          {4, "uint8", 0},
    {6, "int16", 0},          {7, "uint16", 0},
    {8, "uint32", 0},         {9, "int64", 0},
    {10, "uint64", 0},        {11, "float64", 0},
    {12, "bool", 0},
};

const Type* Find(GnDataType number) {
  for (const Type& type : kTypes)
    if (type.number == number) return &type;
  return nullptr;
}

Outcome Negative(const char* array, uint64_t index, int64_t value, const char* hint) {
  return Invalid(Text("%s[%" PRIu64 "] is %" PRId64 "; it must not be negative", array, index, value), hint);
}

// The product of the dims, or a refusal.
Outcome Count(const char* name, const int64_t* dims, uint64_t rank, int64_t* count) {
  *count = 1;
  bool empty = false;
  for (uint64_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] < 0) return Negative(name, axis, dims[axis], "0 is an empty axis");
    empty = empty || dims[axis] == 0;
  }
  for (uint64_t axis = 0; axis < rank && !empty; ++axis) {
    if (__builtin_mul_overflow(*count, dims[axis], count))
      return Invalid(Text("the product of %s does not fit in 64 bits", name));
  }
  if (empty) *count = 0;
  return {};
}

}  // namespace

uint32_t Tensor::ItemBytes() const {
  const Type* const type = Find(dtype);
  return type == nullptr ? 0 : type->bytes;
}

bool Tensor::Contiguous() const {
  if (count == 0) return true;
  int64_t next = 1;
  for (size_t axis = dims.size(); axis > 0; --axis) {
    if (dims[axis - 1] != 1 && strides[axis - 1] != next) return false;
    next *= dims[axis - 1];
  }
  return true;
}

Tensor Tensor::Permuted(const std::vector<size_t>& axes) const {
  Tensor made = *this;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    made.dims[axis] = dims[axes[axis]];
    made.strides[axis] = strides[axes[axis]];
  }
  return made;
}

std::vector<size_t> Tensor::AxesInMemory() const {
  std::vector<size_t> axes(dims.size());
  for (size_t axis = 0; axis < axes.size(); ++axis) axes[axis] = axis;
  std::stable_sort(axes.begin(), axes.end(), [this](size_t a, size_t b) { return strides[a] > strides[b]; });
  return axes;
}

Outcome Describe(const int64_t* dims, uint64_t rank, GnDataType dtype, const int64_t* strides, int64_t offset,
                 const int64_t* storage_dims, uint64_t storage_rank, void* data, Tensor* made) {
  if (rank > 0 && dims == nullptr) return Null("viewDims is null");
  if (rank > 0 && strides == nullptr) return Null("stride is null", "a contiguous tensor has strides, too");
  if (storage_rank > 0 && storage_dims == nullptr) return Null("storageDims is null");
  constexpr const char* kMany = "%s is %" PRIu64 "; a tensor has at most 8 axes";
  if (rank > kMostAxes) return Invalid(Text(kMany, "viewDimsNum", rank), "merge axes");
  if (storage_rank > kMostAxes)
    return Invalid(Text(kMany, "storageDimsNum", storage_rank), "one axis is enough for storage");
  int64_t stored = 0;
  if (Outcome wrong = Count("viewDims", dims, rank, &made->count); wrong.Failed()) return wrong;
  if (Outcome wrong = Count("storageDims", storage_dims, storage_rank, &stored); wrong.Failed()) return wrong;
  if (offset < 0) return Invalid(Text("offset is %" PRId64 "; it must not be negative", offset));
  made->dtype = dtype;
  made->offset = offset;
  made->storage = static_cast<uint8_t*>(data);
  int64_t last = offset;
  bool overflow = false;
  for (uint64_t axis = 0; axis < rank; ++axis) {
    if (strides[axis] < 0) return Negative("stride", axis, strides[axis], "copy a flipped tensor first");
    made->dims.push_back(dims[axis]);
    made->strides.push_back(strides[axis]);
    int64_t reach = 0;
    overflow = overflow || (made->count > 0 && (__builtin_mul_overflow(dims[axis] - 1, strides[axis], &reach) ||
                                                __builtin_add_overflow(last, reach, &last)));
  }
  if (made->count == 0) return {};
  if (overflow || last >= stored) {
    const std::string place = overflow ? "too far to be counted" : Text("number %" PRId64, last);
    return Invalid(Text("the view leaves its storage: its last element is %s, and the storage has %" PRId64 " elements",
                        place.c_str(), stored),
                   "compare viewDims, stride and offset with storageDims");
  }
  made->extent = last - offset + 1;
  const Type* const type = Find(dtype);
  const uint64_t item = type != nullptr && type->bytes > 0 ? type->bytes : 1;
  const uint64_t begin = reinterpret_cast<uintptr_t>(data);
  uint64_t bytes = 0, end = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(stored), item, &bytes) || bytes > INT64_MAX ||
      (data != nullptr && __builtin_add_overflow(begin, bytes, &end)))
    return Invalid(Text("the storage is larger than memory: %" PRId64 " elements", stored));
  if (begin % item != 0) {
    return Invalid(Text("tensorData is not a multiple of %" PRIu64 ", the bytes of %s", item, TypeText(dtype).c_str()),
                   "an address from an allocation is");
  }
  return {};
}

std::string ShapeText(const std::vector<int64_t>& dims) {
  std::string text = "(";
  for (size_t axis = 0; axis < dims.size(); ++axis) text += Text(axis > 0 ? ", %" PRId64 : "%" PRId64, dims[axis]);
  text += ")";
  return text;
}

std::string TypeText(GnDataType dtype) {
  const Type* const type = Find(dtype);
  return type == nullptr ? Text("type number %d", dtype) : type->name;
}

}  // namespace gn_host

extern "C" GnStatus GnCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, GnDataType dataType,
                                   const int64_t* stride, int64_t offset, const int64_t* storageDims,
                                   uint64_t storageDimsNum, void* tensorData, GnTensor** tensor) {
  using namespace gn_host;
  return Guarded("GnCreateTensor", [&]() -> Outcome {
    if (tensor == nullptr) return Null("tensor is null", "pass the address of a GnTensor*");
    *tensor = nullptr;
    auto made = std::make_shared<Tensor>();
    Outcome wrong =
        Describe(viewDims, viewDimsNum, dataType, stride, offset, storageDims, storageDimsNum, tensorData, made.get());
    if (wrong.Failed()) return wrong;
    Tensor& own = *made;
    *tensor = Tensors::Only().Add(std::move(made));
    own.handle = *tensor;
    return {};
  });
}

extern "C" GnStatus GnDestroyTensor(GnTensor* tensor) {
  using namespace gn_host;
  return Guarded("GnDestroyTensor", [&]() -> Outcome {
    if (tensor == nullptr) return Null("tensor is null");
    if (Tensors::Only().Take(tensor) == nullptr)
      return Invalid("tensor was destroyed before, or never made", "destroy what GnCreateTensor returned, once");
    return {};
  });
}
