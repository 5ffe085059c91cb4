// Tiling data (the struct that the host computed, read from its bytes in global memory) and the tiling key.
//
// Source: docs/zh/api, Kernel-Tiling. A plain struct is copied byte for byte; no constructor runs.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

// Returns a copy of the tiling bytes. An observed launch stops if the struct is larger than what the host sent, because
// the device would read past the end.
template <class S, class Pointer>
inline S ReadTiling(Pointer pointer, Loc loc = Loc::here()) {
  const void* from = SpaceCast<const void*>(pointer);
  if constexpr (kObserved) {
    Core& core = ThisCore();
    if (const GntArg* const arg = ArgumentAt(core, from); arg != nullptr) {
      const uint64_t room = static_cast<uint64_t>(arg->data + arg->bytes - static_cast<const uint8_t*>(from));
      if (sizeof(S) > room) core.Stop("tiling-too-short", loc, {{"struct_bytes", sizeof(S)}, {"room", room}});
    }
  }
  S data;
  __builtin_memcpy(&data, from, sizeof(S));
  return data;
}

}  // namespace gn_twin

// The default struct is a type alias, because an alias can stand in a namespace or in a kernel's body. So each kernel
// of a file can have its own.
#define REGISTER_TILING_DEFAULT(STRUCT) using GntDefaultTiling [[maybe_unused]] = STRUCT
#define REGISTER_TILING_FOR_TILINGKEY(EXPRESSION, STRUCT) static_assert(true)
#define REGISTER_NONE_TILING static_assert(true)

#define GET_TILING_DATA(NAME, POINTER) auto NAME = gn_twin::ReadTiling<GntDefaultTiling>(POINTER)
#define GET_TILING_DATA_WITH_STRUCT(STRUCT, NAME, POINTER) STRUCT NAME = gn_twin::ReadTiling<STRUCT>(POINTER)
#define GET_TILING_DATA_MEMBER(STRUCT, MEMBER, NAME, POINTER) auto NAME = gn_twin::ReadTiling<STRUCT>(POINTER).MEMBER
#define GET_TILING_DATA_PTR_WITH_STRUCT(STRUCT, NAME, POINTER) \
  const __gm__ STRUCT* NAME = reinterpret_cast<const __gm__ STRUCT*>(POINTER)
#define COPY_TILING_WITH_STRUCT(STRUCT, SOURCE, DESTINATION) \
  *reinterpret_cast<STRUCT*>(DESTINATION) = gn_twin::ReadTiling<STRUCT>(SOURCE)
#define COPY_TILING_WITH_ARRAY(TYPE, COUNT, SOURCE, DESTINATION) \
  __builtin_memcpy((DESTINATION), gn_twin::SpaceCast<const void*>(SOURCE), sizeof(TYPE) * (COUNT))

// TILING_KEY_VAR is the key of this launch, 0 unless the host chose another; TILING_KEY_IS compares a key with it.
#define TILING_KEY_IS(KEY) (gn_twin::ThisCore().job->tiling_key == static_cast<uint64_t>(KEY))
#define TILING_KEY_VAR (gn_twin::ThisCore().job->tiling_key)

// Declarations for the host and for the build of a whole operator package. Inside a kernel they do nothing. In an
// operator's host code, gn_twin/op_host/template_key.h defines them.
#ifndef GNT_OP_HOST
#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_SEL(...)
#define ASCENDC_TPL_ARGS_SEL(...)
#define ASCENDC_TPL_SEL_PARAM(...)
#define ASCENDC_TPL_DTYPE_DECL(...)
#define ASCENDC_TPL_DTYPE_SEL(...)
#define ASCENDC_TPL_DATATYPE_DECL(...)
#define ASCENDC_TPL_DATATYPE_SEL(...)
#define ASCENDC_TPL_FORMAT_DECL(...)
#define ASCENDC_TPL_FORMAT_SEL(...)
#define ASCENDC_TPL_UINT_DECL(...)
#define ASCENDC_TPL_UINT_SEL(...)
#define ASCENDC_TPL_BOOL_DECL(...)
#define ASCENDC_TPL_BOOL_SEL(...)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(...)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_DETERMINISTIC_DECL(...)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...)
#define ASCENDC_TPL_TILING_STRUCT_SEL(...)
#endif
