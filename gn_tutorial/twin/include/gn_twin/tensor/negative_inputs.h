// The warning for NaN that a kernel produced itself, from a negative input of Sqrt, Rsqrt or Ln, from the input 0 of
// Rsqrt or Ln, or from a too large input of Exp. Only observed libraries have it.
#pragma once
#include "gn_twin/base/float16.h"
#include "gn_twin/core/core.h"

namespace gn_twin {

// Whether the inputs of an operation on type D are checked. An operation that is defined only from 0 on has a type
// FromZero. Exp, whose result is infinite above some number, has a type Overflows; for halves, the finding
// half-overflow reports this.
template <class Op, class D>
inline constexpr bool kFromZero = kObserved && ((kOneOf<D, float, half> && requires { typename Op::FromZero; }) ||
                                                (kSame<D, float> && requires { typename Op::Overflows; }));

// Whether an operation is infinite at 0: it then has a type PoleAtZero. An input 0 is recorded too, because infinity
// times 0 is NaN.
template <class Op>
inline constexpr bool kPoleAtZero = requires { typename Op::PoleAtZero; };

inline constexpr float kLargestExp = 88.72283f;  // the logarithm of the largest float

// Records the first of `count` inputs whose result will be NaN or infinite. Called before the instruction computes.
template <class Op, class D>
inline void NoteNegatives(const char* op, Loc loc, uint32_t count, const D* dst, const D* src) {
  const auto outside = [](float value) {
    if constexpr (requires { typename Op::Overflows; }) return value > kLargestExp && value < __builtin_inff();
    return kPoleAtZero<Op> ? value <= 0.0f : value < 0.0f;
  };
  uint32_t any = 0;
  for (uint32_t i = 0; i < count; ++i) any |= outside(static_cast<float>(src[i])) ? 1u : 0u;
  if (any == 0) [[likely]]
    return;
  Core& core = ThisCore();
  if (core.delayed != nullptr) return;  // the copies of the inputs may not be finished
  for (uint32_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(src[i]);
    if (!outside(value)) continue;
    core.negatives.Add({op, loc, i, value, reinterpret_cast<const uint8_t*>(dst + i), false});
    return;
  }
}

template <class T>
bool HasNan(const T* at, uint64_t count) {
  bool any = false;
  for (uint64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(at[i]);
    any = any || value != value;
  }
  return any;
}

// Reports NaN in rows that a block stores, at most once for each record of NegativeInputs, unless an input array holds
// NaN. Called if the block has a record that is not reported yet.
template <class T>
GNT_COLD void ReportStoredNan(Core& core, Loc stored, const uint8_t* rows, uint32_t count, uint64_t bytes,
                              uint64_t pitch) {
  bool any = false;
  for (uint32_t row = 0; row < count && !any; ++row)
    any = HasNan(reinterpret_cast<const T*>(rows + row * pitch), bytes / sizeof(T));
  if (!any) return;
  NegativeInputs::Note& note = core.negatives.OneOf(rows, rows + (count - 1) * pitch + bytes);
  if (note.reported) return;
  for (uint32_t i = 0; i < core.job->arg_count; ++i) {
    const GntArg& arg = core.job->args[i];
    if (arg.kind != GNT_TENSOR || arg.data == nullptr || (arg.role != GNT_IN && arg.role != GNT_INOUT)) continue;
    if (arg.element_bytes == 4 && HasNan(reinterpret_cast<const float*>(arg.data), arg.bytes / 4)) return;
    if (arg.element_bytes == 2 && HasNan(reinterpret_cast<const half*>(arg.data), arg.bytes / 2)) return;
  }
  note.reported = true;
  --core.negatives.pending;
  char value[32];
  __builtin_snprintf(value, sizeof(value), "%g", static_cast<double>(note.value));
  FieldList fields{{"op", note.op},
                   {"value", value},
                   {"is", note.value >= 0.0f ? "infinite" : "NaN"},
                   {"index", note.index},
                   {"stored_file", stored.file},
                   {"stored_line", stored.line}};
  if (note.value > 0.0f) fields.Add({"cause", "exp-overflow"});
  core.Warn("nan-from-negative", note.loc, stored, fields);
}

}  // namespace gn_twin
