// The objects that describe an operator's arguments: tensors, scalars, arrays and lists of the acl interface, tensor
// descriptors and data buffers.
//
// Source: CANN's application API reference, aclTensor, aclScalar, aclIntArray and similar, aclTensorDesc,
// aclDataBuffer.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <string>
#include <vector>

typedef int aclnnStatus;

typedef enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
} aclDataType;

typedef enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NCL = 47,
} aclFormat;

// Returns the bytes of one element; 0 for a string, an unknown type, or a type whose elements are not whole bytes.
inline size_t aclDataTypeSize(aclDataType type) {
  switch (type) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL: return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32: return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0;
  }
}

// The base of tensors, scalars, arrays and lists. A destroyed one is kept, so that its use is refused, not undefined.
struct GntAclObject {
  static constexpr uint32_t kAlive = 0x6c636161;
  uint32_t alive = kAlive;
};

template <class Object>
inline aclnnStatus GntDestroy(const Object* object) {
  if (object == nullptr || object->alive != GntAclObject::kAlive) return 161002;
  const_cast<Object*>(object)->alive = 0;
  return 0;
}

// A tensor as the caller describes it. stride and offset count elements; `data` is the start of the storage.
struct aclTensor : GntAclObject {
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;
  int64_t offset = 0;
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  void* data = nullptr;
};
struct aclScalar : GntAclObject {
  aclDataType type = ACL_DT_UNDEFINED;
  std::vector<uint8_t> value;
};
template <class T>
struct GntAclArray : GntAclObject {
  std::vector<T> values;
};
struct aclIntArray : GntAclArray<int64_t> {};
struct aclFloatArray : GntAclArray<float> {};
struct aclBoolArray : GntAclArray<uint8_t> {};
struct aclTensorList : GntAclArray<const aclTensor*> {};
struct aclScalarList : GntAclArray<const aclScalar*> {};

inline aclTensor* aclCreateTensor(const int64_t* shape, uint64_t axes, aclDataType type, const int64_t* stride,
                                  int64_t offset, aclFormat format, const int64_t* /*storage*/,
                                  uint64_t /*storageAxes*/, void* data) {
  if (axes > 0 && shape == nullptr) return nullptr;
  aclTensor* made = new aclTensor;
  made->shape.assign(shape, shape + axes);
  if (stride != nullptr) {
    made->stride.assign(stride, stride + axes);
  } else {
    made->stride.assign(axes, 1);
    for (uint64_t i = axes; i-- > 1;) made->stride[i - 1] = made->stride[i] * made->shape[i];
  }
  made->offset = offset;
  made->type = type;
  made->format = format;
  made->data = data;
  return made;
}
inline aclnnStatus aclDestroyTensor(const aclTensor* one) { return GntDestroy(one); }

inline aclScalar* aclCreateScalar(void* value, aclDataType type) {
  if (value == nullptr || aclDataTypeSize(type) == 0) return nullptr;
  aclScalar* made = new aclScalar;
  made->type = type;
  made->value.assign(static_cast<uint8_t*>(value), static_cast<uint8_t*>(value) + aclDataTypeSize(type));
  return made;
}
inline aclnnStatus aclDestroyScalar(const aclScalar* one) { return GntDestroy(one); }

template <class Array, class T>
inline Array* GntMakeArray(const T* values, uint64_t count) {
  if (values == nullptr && count > 0) return nullptr;
  Array* made = new Array;
  made->values.assign(values, values + count);
  return made;
}
inline aclIntArray* aclCreateIntArray(const int64_t* values, uint64_t count) {
  return GntMakeArray<aclIntArray>(values, count);
}
inline aclFloatArray* aclCreateFloatArray(const float* values, uint64_t count) {
  return GntMakeArray<aclFloatArray>(values, count);
}
inline aclBoolArray* aclCreateBoolArray(const bool* values, uint64_t count) {
  return GntMakeArray<aclBoolArray>(values, count);
}
inline aclTensorList* aclCreateTensorList(const aclTensor* const* values, uint64_t count) {
  return GntMakeArray<aclTensorList>(values, count);
}
inline aclScalarList* aclCreateScalarList(const aclScalar* const* values, uint64_t count) {
  return GntMakeArray<aclScalarList>(values, count);
}
inline aclnnStatus aclDestroyIntArray(const aclIntArray* one) { return GntDestroy(one); }
inline aclnnStatus aclDestroyFloatArray(const aclFloatArray* one) { return GntDestroy(one); }
inline aclnnStatus aclDestroyBoolArray(const aclBoolArray* one) { return GntDestroy(one); }
inline aclnnStatus aclDestroyTensorList(const aclTensorList* one) { return GntDestroy(one); }
inline aclnnStatus aclDestroyScalarList(const aclScalarList* one) { return GntDestroy(one); }

template <class Array>
inline aclnnStatus GntSizeOf(const Array* array, uint64_t* size) {
  if (array == nullptr || size == nullptr) return 161001;
  *size = array->values.size();
  return 0;
}
inline aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) { return GntSizeOf(array, size); }
inline aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) { return GntSizeOf(array, size); }
inline aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) { return GntSizeOf(array, size); }
inline aclnnStatus aclGetTensorListSize(const aclTensorList* list, uint64_t* size) { return GntSizeOf(list, size); }
inline aclnnStatus aclGetScalarListSize(const aclScalarList* list, uint64_t* size) { return GntSizeOf(list, size); }

// --- descriptors and buffers, in which a program keeps shapes and memory before it makes tensors ---------------------

struct aclTensorDesc {
  aclDataType type;
  std::vector<int64_t> dims;
  aclFormat format;
  std::string name;
};
struct aclDataBuffer {
  void* data;
  size_t bytes;
};

inline aclTensorDesc* aclCreateTensorDesc(aclDataType type, int axes, const int64_t* dims, aclFormat format) {
  if (axes < 0 || (axes > 0 && dims == nullptr)) return nullptr;
  return new aclTensorDesc{type, std::vector<int64_t>(dims, dims + axes), format, ""};
}
inline void aclDestroyTensorDesc(const aclTensorDesc* desc) { delete desc; }
inline aclDataType aclGetTensorDescType(const aclTensorDesc* desc) { return desc ? desc->type : ACL_DT_UNDEFINED; }
inline aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return desc != nullptr ? desc->format : ACL_FORMAT_UNDEFINED;
}
inline size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) { return desc != nullptr ? desc->dims.size() : 0; }
inline size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  size_t count = desc != nullptr ? 1 : 0;
  if (desc != nullptr) {
    for (int64_t one : desc->dims) count *= one > 0 ? static_cast<size_t>(one) : 0;
  }
  return count;
}
inline size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  return desc != nullptr ? aclGetTensorDescElementCount(desc) * aclDataTypeSize(desc->type) : 0;
}
inline int aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t axis, int64_t* length) {
  if (desc == nullptr || length == nullptr || axis >= desc->dims.size()) return 100000;
  *length = desc->dims[axis];
  return 0;
}
inline int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t axis) {
  return desc != nullptr && axis < desc->dims.size() ? desc->dims[axis] : -1;
}
inline void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  if (desc != nullptr && name != nullptr) desc->name = name;
}
inline const char* aclGetTensorDescName(aclTensorDesc* desc) { return desc != nullptr ? desc->name.c_str() : ""; }

inline aclDataBuffer* aclCreateDataBuffer(void* data, size_t bytes) { return new aclDataBuffer{data, bytes}; }
inline int aclDestroyDataBuffer(const aclDataBuffer* buffer) {
  delete buffer;
  return 0;
}
inline void* aclGetDataBufferAddr(const aclDataBuffer* buffer) { return buffer != nullptr ? buffer->data : nullptr; }
inline uint32_t aclGetDataBufferSize(const aclDataBuffer* buffer) {
  return buffer != nullptr ? static_cast<uint32_t>(buffer->bytes) : 0;
}
inline size_t aclGetDataBufferSizeV2(const aclDataBuffer* buffer) { return buffer != nullptr ? buffer->bytes : 0; }
inline int aclUpdateDataBuffer(aclDataBuffer* buffer, void* data, size_t bytes) {
  if (buffer == nullptr) return 100000;
  *buffer = {data, bytes};
  return 0;
}

struct aclOpExecutor;
inline aclnnStatus aclnnInit(const char*) { return 0; }
inline aclnnStatus aclnnFinalize() { return 0; }
