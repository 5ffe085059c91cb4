// Sizes and names of the graph engine's types: ge::GetSizeByDataType, ge::TypeUtils.
//
// Source: docs/api of metadef (TypeUtils). The size of a type smaller than a byte is 1000 + its bits.
#pragma once
#include <stdint.h>

#include <string>

#include "gn_twin/op_host/host_functions.h"

namespace ge {

using char_t = char;
using float32_t = float;
using float64_t = double;

constexpr int kDataTypeSizeBitOffset = 1000;

// A format holds its primary format in the lowest byte. Above it are a sub-format and the length of the innermost axis
// (c0).
inline int32_t GetPrimaryFormat(int32_t format) { return format & 0xff; }
inline int32_t GetSubFormat(int32_t format) { return (format >> 8) & 0xffff; }
inline bool HasSubFormat(int32_t format) { return GetSubFormat(format) > 0; }

// Returns the bytes of one element; 1000 + its bits if it is smaller than a byte, -1 for a type without a size.
inline int GetSizeByDataType(DataType type) {
  switch (type) {
    case DT_INT8:
    case DT_UINT8:
    case DT_BOOL:
    case DT_QINT8:
    case DT_QUINT8:
    case DT_HIFLOAT8:
    case DT_FLOAT8_E5M2:
    case DT_FLOAT8_E4M3FN:
    case DT_FLOAT8_E8M0: return 1;
    case DT_FLOAT16:
    case DT_BF16:
    case DT_INT16:
    case DT_UINT16:
    case DT_QINT16:
    case DT_QUINT16: return 2;
    case DT_FLOAT:
    case DT_INT32:
    case DT_UINT32:
    case DT_QINT32:
    case DT_COMPLEX32: return 4;
    case DT_INT64:
    case DT_UINT64:
    case DT_DOUBLE:
    case DT_RESOURCE:
    case DT_COMPLEX64: return 8;
    case DT_COMPLEX128: return 16;
    case DT_INT4:
    case DT_FLOAT4_E2M1:
    case DT_FLOAT4_E1M2: return kDataTypeSizeBitOffset + 4;
    case DT_INT2:
    case DT_UINT2: return kDataTypeSizeBitOffset + 2;
    case DT_UINT1: return kDataTypeSizeBitOffset + 1;
    default: return -1;
  }
}

class TypeUtils {
 public:
  static bool GetDataTypeLength(DataType type, uint32_t& bytes) {
    const int size = GetSizeByDataType(type);
    if (size < 0 || size > kDataTypeSizeBitOffset) return false;
    bytes = static_cast<uint32_t>(size);
    return true;
  }
  static std::string DataTypeToSerialString(DataType type) { return gn_twin::NameOf(type); }
  static AscendString DataTypeToAscendString(const DataType& type) { return AscendString(gn_twin::NameOf(type)); }
  static std::string FormatToSerialString(Format format) {
    const std::string name = gn_twin::NameOf(format);
    return name.rfind("FORMAT_", 0) == 0 ? name.substr(7) : name;
  }
  static AscendString FormatToAscendString(const Format& format) {
    return AscendString(FormatToSerialString(format).c_str());
  }
};

}  // namespace ge
