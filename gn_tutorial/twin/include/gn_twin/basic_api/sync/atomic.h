// Atomic stores: copies from the Unified Buffer that combine with the values in global memory instead of overwriting.
//
// Source: docs/zh/api, 原子操作 (SetAtomicAdd, SetAtomicMax, SetAtomicMin, SetAtomicType, SetAtomicNone). The setting holds
// for every later copy of the core until SetAtomicNone or DisableDmaAtomic. The twin runs blocks in one order, which
// TwinOptions(block_order=...) chooses, so a sum is the same in every run. On the device the order of the blocks, and
// with it the last bits of a float sum, changes from run to run.
#pragma once
#include "gn_twin/base/float16.h"
#include "gn_twin/tensor/operand.h"

namespace gn_twin {

enum class Atomic : uint8_t { None, Add, Max, Min };
enum class AtomicType : uint8_t { None, Float, Half, Int16, Int32, Int8, Bfloat16 };

template <class T>
constexpr AtomicType AtomicTypeOf() {
  if constexpr (kSame<T, float>) return AtomicType::Float;
  if constexpr (kSame<T, half>) return AtomicType::Half;
  if constexpr (kSame<T, int16_t>) return AtomicType::Int16;
  if constexpr (kSame<T, int32_t>) return AtomicType::Int32;
  if constexpr (kSame<T, int8_t>) return AtomicType::Int8;
  if constexpr (kSame<T, bfloat16_t>) return AtomicType::Bfloat16;
  return AtomicType::None;
}

// Returns the result of an atomic store of `value` to an element that holds `old`. Additions of half and bfloat16_t
// round once; integers wrap around.
template <class T>
inline T Combine(Atomic how, T old, T value) {
  if constexpr (kSame<T, half> || kSame<T, bfloat16_t> || kSame<T, float>) {
    const float a = static_cast<float>(old);
    const float b = static_cast<float>(value);
    return how == Atomic::Add ? T(a + b) : how == Atomic::Max ? (b > a ? value : old) : (b < a ? value : old);
  } else {
    const int64_t a = old;
    const int64_t b = value;
    return static_cast<T>(how == Atomic::Add ? a + b : how == Atomic::Max ? (b > a ? b : a) : (b < a ? b : a));
  }
}

// Combines one row with global memory. Elements are copied as bytes, because an element may lie at any byte address
// there.
template <class T>
GNT_COLD inline void CombineRow(Atomic how, uint8_t* dst, const uint8_t* src, uint64_t bytes) {
  for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T old;
    T value;
    __builtin_memcpy(&old, dst + at, sizeof(T));
    __builtin_memcpy(&value, src + at, sizeof(T));
    value = Combine(how, old, value);
    __builtin_memcpy(dst + at, &value, sizeof(T));
  }
}

GNT_COLD inline void CombineRowOf(AtomicType type, Atomic how, uint8_t* dst, const uint8_t* src, uint64_t bytes) {
  switch (type) {
    case AtomicType::Float: return CombineRow<float>(how, dst, src, bytes);
    case AtomicType::Half: return CombineRow<half>(how, dst, src, bytes);
    case AtomicType::Int16: return CombineRow<int16_t>(how, dst, src, bytes);
    case AtomicType::Int32: return CombineRow<int32_t>(how, dst, src, bytes);
    case AtomicType::Int8: return CombineRow<int8_t>(how, dst, src, bytes);
    case AtomicType::Bfloat16: return CombineRow<bfloat16_t>(how, dst, src, bytes);
    case AtomicType::None: return;
  }
}

// Refuses a copy whose element type is not the type that was set, because the device combines the bits as the set type,
// whatever the tensor's type is.
template <class T>
inline void RequireAtomicType(Operation& operation) {
  const Core& core = operation.core();
  if (core.atomic == 0 || static_cast<AtomicType>(core.atomic_type) == AtomicTypeOf<T>()) return;
  operation.Refuse("atomic-type", {{"element_bytes", sizeof(T)},
                                   {"set_op", core.atomic_op},
                                   {"set_file", core.atomic_set.file},
                                   {"set_line", core.atomic_set.line}});
}

inline void SetAtomic(Atomic how, AtomicType type, const char* op = "", Loc loc = {}) {
  Core& core = ThisCore();
  // The block waits for its turn, because sums of floats depend on the order of the blocks.
  if (how != Atomic::None && !core.InTurn()) StopBlock();
  core.atomic_set = loc;
  core.atomic_op = op;
  core.atomic = static_cast<uint8_t>(how);
  core.atomic_type = static_cast<uint8_t>(type);
}

}  // namespace gn_twin

namespace AscendC {

template <class T>
inline void SetAtomicAdd(gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::AtomicTypeOf<T>() != gn_twin::AtomicType::None,
                "SetAtomicAdd on Atlas A2 takes float, half, bfloat16_t, int32_t, int16_t, int8_t");
  gn_twin::SetAtomic(gn_twin::Atomic::Add, gn_twin::AtomicTypeOf<T>(), "SetAtomicAdd", loc);
}
template <class T>
inline void SetAtomicMax(gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::AtomicTypeOf<T>() != gn_twin::AtomicType::None,
                "SetAtomicMax on Atlas A2 takes float, half, bfloat16_t, int32_t, int16_t, int8_t");
  gn_twin::SetAtomic(gn_twin::Atomic::Max, gn_twin::AtomicTypeOf<T>(), "SetAtomicMax", loc);
}
template <class T>
inline void SetAtomicMin(gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::AtomicTypeOf<T>() != gn_twin::AtomicType::None,
                "SetAtomicMin on Atlas A2 takes float, half, bfloat16_t, int32_t, int16_t, int8_t");
  gn_twin::SetAtomic(gn_twin::Atomic::Min, gn_twin::AtomicTypeOf<T>(), "SetAtomicMin", loc);
}
// Sets only the type; the atomic operation stays as it was.
template <class T>
inline void SetAtomicType(gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::AtomicTypeOf<T>() != gn_twin::AtomicType::None,
                "SetAtomicType on Atlas A2 takes float, half, bfloat16_t, int32_t, int16_t, int8_t");
  gn_twin::SetAtomic(static_cast<gn_twin::Atomic>(gn_twin::ThisCore().atomic), gn_twin::AtomicTypeOf<T>(),
                     "SetAtomicType", loc);
}
inline void SetAtomicNone(gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::SetAtomic(gn_twin::Atomic::None, gn_twin::AtomicType::None, "SetAtomicNone", loc);
}
inline void DisableDmaAtomic(gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::SetAtomic(gn_twin::Atomic::None, gn_twin::AtomicType::None, "DisableDmaAtomic", loc);
}

}  // namespace AscendC
