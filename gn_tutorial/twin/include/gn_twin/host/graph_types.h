// The graph engine's names of tensor types and layouts, and its status codes.
//
// Source: docs/api/DataType.md and Format.md of metadef, for the numbers too; graph/ge_error_codes.h for the status.
#pragma once
#include <stdint.h>

// In a kernel's build the names below are macros of the same numbers. This header undefines the macros until its end.
#include "gn_twin/base/data_type_macros_off.h"

// Tables that define both the enumerators and their names in descriptions and messages.
#define GNT_DATA_TYPES(X)  \
  X(DT_FLOAT, 0)           \
  X(DT_FLOAT16, 1)         \
  X(DT_INT8, 2)            \
  X(DT_INT32, 3)           \
  X(DT_UINT8, 4)           \
  X(DT_INT16, 6)           \
  X(DT_UINT16, 7)          \
  X(DT_UINT32, 8)          \
  X(DT_INT64, 9)           \
  X(DT_UINT64, 10)         \
  X(DT_DOUBLE, 11)         \
  X(DT_BOOL, 12)           \
  X(DT_STRING, 13)         \
  X(DT_DUAL_SUB_INT8, 14)  \
  X(DT_DUAL_SUB_UINT8, 15) \
  X(DT_COMPLEX64, 16)      \
  X(DT_COMPLEX128, 17)     \
  X(DT_QINT8, 18)          \
  X(DT_QINT16, 19)         \
  X(DT_QINT32, 20)         \
  X(DT_QUINT8, 21)         \
  X(DT_QUINT16, 22)        \
  X(DT_RESOURCE, 23)       \
  X(DT_STRING_REF, 24)     \
  X(DT_DUAL, 25)           \
  X(DT_VARIANT, 26)        \
  X(DT_BF16, 27)           \
  X(DT_UNDEFINED, 28)      \
  X(DT_INT4, 29)           \
  X(DT_UINT1, 30)          \
  X(DT_INT2, 31)           \
  X(DT_UINT2, 32)          \
  X(DT_COMPLEX32, 33)      \
  X(DT_HIFLOAT8, 34)       \
  X(DT_FLOAT8_E5M2, 35)    \
  X(DT_FLOAT8_E4M3FN, 36)  \
  X(DT_FLOAT8_E8M0, 37)    \
  X(DT_FLOAT6_E3M2, 38)    \
  X(DT_FLOAT6_E2M3, 39)    \
  X(DT_FLOAT4_E2M1, 40)    \
  X(DT_FLOAT4_E1M2, 41)    \
  X(DT_HIFLOAT4, 42)
#define GNT_FORMATS(X)                          \
  X(FORMAT_NCHW, 0)                             \
  X(FORMAT_NHWC, 1)                             \
  X(FORMAT_ND, 2)                               \
  X(FORMAT_NC1HWC0, 3)                          \
  X(FORMAT_FRACTAL_Z, 4)                        \
  X(FORMAT_NC1C0HWPAD, 5)                       \
  X(FORMAT_NHWC1C0, 6)                          \
  X(FORMAT_FSR_NCHW, 7)                         \
  X(FORMAT_FRACTAL_DECONV, 8)                   \
  X(FORMAT_C1HWNC0, 9)                          \
  X(FORMAT_FRACTAL_DECONV_TRANSPOSE, 10)        \
  X(FORMAT_FRACTAL_DECONV_SP_STRIDE_TRANS, 11)  \
  X(FORMAT_NC1HWC0_C04, 12)                     \
  X(FORMAT_FRACTAL_Z_C04, 13)                   \
  X(FORMAT_CHWN, 14)                            \
  X(FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS, 15) \
  X(FORMAT_HWCN, 16)                            \
  X(FORMAT_NC1KHKWHWC0, 17)                     \
  X(FORMAT_BN_WEIGHT, 18)                       \
  X(FORMAT_FILTER_HWCK, 19)                     \
  X(FORMAT_HASHTABLE_LOOKUP_LOOKUPS, 20)        \
  X(FORMAT_HASHTABLE_LOOKUP_KEYS, 21)           \
  X(FORMAT_HASHTABLE_LOOKUP_VALUE, 22)          \
  X(FORMAT_HASHTABLE_LOOKUP_OUTPUT, 23)         \
  X(FORMAT_HASHTABLE_LOOKUP_HITS, 24)           \
  X(FORMAT_C1HWNCoC0, 25)                       \
  X(FORMAT_MD, 26)                              \
  X(FORMAT_NDHWC, 27)                           \
  X(FORMAT_FRACTAL_ZZ, 28)                      \
  X(FORMAT_FRACTAL_NZ, 29)                      \
  X(FORMAT_NCDHW, 30)                           \
  X(FORMAT_DHWCN, 31)                           \
  X(FORMAT_NDC1HWC0, 32)                        \
  X(FORMAT_FRACTAL_Z_3D, 33)                    \
  X(FORMAT_CN, 34)                              \
  X(FORMAT_NC, 35)                              \
  X(FORMAT_DHWNC, 36)                           \
  X(FORMAT_FRACTAL_Z_3D_TRANSPOSE, 37)          \
  X(FORMAT_FRACTAL_ZN_LSTM, 38)                 \
  X(FORMAT_FRACTAL_Z_G, 39)                     \
  X(FORMAT_RESERVED, 40)                        \
  X(FORMAT_ALL, 41)                             \
  X(FORMAT_NULL, 42)                            \
  X(FORMAT_ND_RNN_BIAS, 43)                     \
  X(FORMAT_FRACTAL_ZN_RNN, 44)                  \
  X(FORMAT_NYUV, 45)                            \
  X(FORMAT_NYUV_A, 46)                          \
  X(FORMAT_NCL, 47)                             \
  X(FORMAT_FRACTAL_Z_WINO, 48)                  \
  X(FORMAT_C1HWC0, 49)                          \
  X(FORMAT_FRACTAL_NZ_C0_16, 50)                \
  X(FORMAT_FRACTAL_NZ_C0_32, 51)                \
  X(FORMAT_FRACTAL_NZ_C0_2, 52)                 \
  X(FORMAT_FRACTAL_NZ_C0_4, 53)                 \
  X(FORMAT_FRACTAL_NZ_C0_8, 54)

// The same types and formats, under the names that declarations of template tiling use.
#define GNT_ENUMERATOR(NAME, NUMBER) C_##NAME = NUMBER,
enum C_DataType : int32_t { GNT_DATA_TYPES(GNT_ENUMERATOR) C_DT_MAX };
enum C_Format : int32_t { GNT_FORMATS(GNT_ENUMERATOR) C_FORMAT_END };
#undef GNT_ENUMERATOR

namespace ge {

#define GNT_ENUMERATOR(NAME, NUMBER) NAME = NUMBER,
enum DataType { GNT_DATA_TYPES(GNT_ENUMERATOR) DT_MAX };
enum Format { GNT_FORMATS(GNT_ENUMERATOR) FORMAT_END, FORMAT_MAX = 0xff };
#undef GNT_ENUMERATOR

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
// Markers of unknown shapes in a graph: an axis of unknown length, and an unknown number of axes.
constexpr int64_t UNKNOWN_DIM = -1, UNKNOWN_DIM_NUM = -2;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
constexpr graphStatus GRAPH_PARAM_OUT_OF_RANGE = 50331644;

}  // namespace ge

namespace gn_twin {

#define GNT_NAME(NAME, NUMBER) \
  case NUMBER: return #NAME;
inline const char* NameOf(ge::DataType type) {
  switch (static_cast<int>(type)) {
    GNT_DATA_TYPES(GNT_NAME)
    default: return "DT_UNDEFINED";
  }
}
// Returns the name of a format. Ignores the upper bytes, a sub-format and C0, which no operator of the twin has.
inline const char* NameOf(ge::Format format) {
  switch (static_cast<int>(format) & 0xff) {
    GNT_FORMATS(GNT_NAME)
    default: return "FORMAT_RESERVED";
  }
}
#undef GNT_NAME

}  // namespace gn_twin

#undef GNT_DATA_TYPES
#undef GNT_FORMATS
#include "gn_twin/base/data_type_macros.h"
