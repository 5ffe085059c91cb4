// The macros with which an operator's host code defines tiling structs. The kernel includes the same definitions. Here
// the macros make plain structs, so that the kernel reads the bytes that the host wrote.
//
// Source: docs/zh/api, Utils-API/Tiling数据结构注册. A field is aligned to its own size. A nested struct and the whole
// struct are aligned to 8 bytes. All fields start at zero, except in a project's host files.
//
// In a project's host files (GNT_OP_HOST) a new struct is filled with a byte that the driver chooses. If the host
// function runs twice, with different bytes, a field with the same value in both runs was set. Any other field was not.
//
// GET_TILING_DATA finds the struct that is registered as the operator's default. A registration for <struct>Op (a
// nested struct) or <op>_<key> (one tiling key only) is never the default. If a file registers structs for several
// operators, -DGNT_OP_TYPE=<op> chooses.
#pragma once
#ifdef GNT_OP_HOST
#include <securec.h>

#include "gn_twin/op_host/tiling_classes.h"
#else
#include "gn_twin/basic_api/tiling.h"
#endif

namespace gn_twin {

constexpr bool IsDefaultTiling(const char* op, const char* name) {
  uint32_t same = 0;
  while (name[same] != '\0' && op[same] == name[same]) ++same;
  if (name[same] == '\0' && op[same] == 'O' && op[same + 1] == 'p' && op[same + 2] == '\0') return false;
  uint32_t end = 0;
  while (op[end] != '\0') ++end;
  uint32_t digits = 0;
  while (digits < end && op[end - 1 - digits] >= '0' && op[end - 1 - digits] <= '9') ++digits;
  return digits == 0 || digits == end || op[end - 1 - digits] != '_';
}

// GET_TILING_DATA calls GntRegistered with this type, and only the overload of a default registration accepts it. If
// two structs are registered as defaults, the call is ambiguous, and the compiler reports the kernel's line.
struct AnyTiling {};
template <bool kDefault, class S>
struct TilingKey {
  TilingKey(AnyTiling);
};
template <class S>
struct TilingKey<false, S> {};
template <class S>
struct TilingBox {
  using Type = S;
};

}  // namespace gn_twin

#ifdef GNT_OP_HOST
#define GNT_TILING_START(NAME) \
  NAME() { __builtin_memset(static_cast<void*>(this), gn_twin::op_host::FillByte(), sizeof(NAME)); }
#else
#define GNT_TILING_START(NAME)
#endif
#define BEGIN_TILING_DATA_DEF(NAME)                                           \
  struct alignas(8) NAME {                                                    \
    GNT_TILING_START(NAME)                                                    \
    uint64_t GetDataSize() const { return sizeof(NAME); }                     \
    void SaveToBuffer(void* buffer, uint64_t room) const {                    \
      if (room >= sizeof(NAME)) __builtin_memcpy(buffer, this, sizeof(NAME)); \
    }
#define TILING_DATA_FIELD_DEF(TYPE, NAME)  \
  TYPE NAME{};                             \
  TYPE get_##NAME() const { return NAME; } \
  void set_##NAME(TYPE value) { NAME = value; }
#define TILING_DATA_FIELD_DEF_ARR(TYPE, COUNT, NAME) \
  TYPE NAME[COUNT]{};                                \
  TYPE* get_##NAME() { return NAME; }                \
  const TYPE* get_##NAME() const { return NAME; }    \
  void set_##NAME(const TYPE* values) { __builtin_memcpy(NAME, values, sizeof(NAME)); }
#define TILING_DATA_FIELD_DEF_STRUCT(TYPE, NAME) alignas(8) TYPE NAME;
#define END_TILING_DATA_DEF }
#ifdef GNT_OP_HOST
#define REGISTER_TILING_DATA_CLASS(OP, NAME) \
  [[maybe_unused]] static const bool gnt_tiling_class_##OP = gn_twin::op_host::AddTilingClass(#OP, #NAME, sizeof(NAME));
#define REGISTER_TILING_DEFAULT(STRUCT) static_assert(true)
#else
#define REGISTER_TILING_DATA_CLASS(OP, NAME)               \
  using GntTilingOf_##OP [[maybe_unused]] = NAME;          \
  [[maybe_unused]] gn_twin::TilingBox<NAME> GntRegistered( \
      gn_twin::TilingKey<gn_twin::IsDefaultTiling(#OP, #NAME), NAME>);

#endif

// Host code keeps its structs in the namespace optiling, and kernels name them without the namespace.
namespace optiling {}
#ifndef GNT_OP_HOST
using namespace optiling;

#undef GET_TILING_DATA
#ifdef GNT_OP_TYPE
#define GNT_JOIN(LEFT, RIGHT) LEFT##RIGHT
#define GNT_TILING_OF(OP) GNT_JOIN(GntTilingOf_, OP)
#define GET_TILING_DATA(NAME, POINTER) auto NAME = gn_twin::ReadTiling<GNT_TILING_OF(GNT_OP_TYPE)>(POINTER)
#else
#define GET_TILING_DATA(NAME, POINTER) \
  auto NAME = gn_twin::ReadTiling<decltype(GntRegistered(gn_twin::AnyTiling{}))::Type>(POINTER)
#endif
// A kernel can also register a struct itself, with REGISTER_TILING_DEFAULT. In a file that includes this header, such a
// struct is one more default.
#undef REGISTER_TILING_DEFAULT
#define REGISTER_TILING_DEFAULT(STRUCT) \
  [[maybe_unused]] gn_twin::TilingBox<STRUCT> GntRegistered(gn_twin::TilingKey<true, STRUCT>)
#endif
