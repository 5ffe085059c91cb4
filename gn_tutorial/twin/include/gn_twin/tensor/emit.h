// Emits vector instructions to the observers. Some instructions use Operation::Emit (tensor/operand.h) instead.
//
// A loop issues the same few instructions again and again, so each core caches its calls (events/cached_call.h). If a
// call is in the cache, the twin does not validate it again, and observers check only the state that may have changed
// since. For any other call, a function named EmitChecked... validates the operands and passes the whole event to the
// observers. A traced launch has no cache.
#pragma once
#include "gn_twin/tensor/lanes.h"

namespace gn_twin {

using AscendC::LocalTensor;

// Bytes of the widest element type, which sets the number of lanes of a repeat.
template <class T, class... Ts>
inline constexpr uint32_t kWidest = sizeof(T);
template <class T, class U, class... Ts>
inline constexpr uint32_t kWidest<T, U, Ts...> = sizeof(T) > kWidest<U, Ts...> ? sizeof(T) : kWidest<U, Ts...>;

// Returns the documented name of operand `index` of an instruction with `many` operands. Operand 0 is the destination.
inline const char* RoleOf(uint32_t index, uint32_t many) {
  static constexpr const char* kRoles[] = {"dst", "src0", "src1", "src2"};
  return many == 2 && index == 1 ? "src" : kRoles[index];
}

// Whether an instruction may use the first `bytes` bytes of the tensor, whose address was already checked.
template <class T>
[[gnu::always_inline]] inline bool StillHas(const Core& core, const LocalTensor<T>& tensor, uint64_t bytes) {
  return bytes <= uint64_t{tensor.GetSize()} * sizeof(T) && !core.IsFree(tensor.BufferIndex(), tensor.Number());
}

// Returns the key of a call whose form describes everything about its operands except their tensors.
template <class D, class... S>
[[gnu::always_inline]] inline CallKey KeyOf(const char* op, Loc loc, uint32_t kinds, uint64_t form,
                                            const LocalTensor<D>& dst, const LocalTensor<S>&... src) {
  static_assert(1 + sizeof...(S) <= CallKey::kMost);
  uint32_t at = 0;
  kinds |= CallKey::KindOf(0, sizeof(D));
  ((kinds |= CallKey::KindOf(++at, sizeof(S))), ...);
  return {op, loc.file, loc.line, kinds, form, {dst.Bytes(), src.Bytes()...}};
}

// Emits a call and returns true if it is cached, its tensors fit and no observer needs the event; else returns false.
template <class D, class... S>
[[gnu::always_inline]] inline bool EmitCached(Core& core, const CallKey& key, const LocalTensor<D>& dst,
                                              const LocalTensor<S>&... src) {
  if (core.cached == nullptr) [[unlikely]]
    return false;
  core.LookForNan();
  CachedCall& call = core.cached->PlaceOf(key);
  if (!call.key.Equals<1 + sizeof...(S)>(key)) [[unlikely]]
    return false;
  uint32_t at = 0;
  if (!StillHas(core, dst, call.part[0].Bytes()) || !(StillHas(core, src, call.part[++at].Bytes()) && ...)) [[unlikely]]
    return false;
  if (!core.FlushedCache().Recheck(core, call)) [[unlikely]]
    return false;
  core.nans.call = &call;
  return true;
}

// Emits an instruction. `form`: the instruction's numbers in one word; 0 if they do not fit. `kind`: a constant of
// CallKey, such as kRows. If EmitCached does not emit the call, emit_checked(key) validates the operands and emits the
// event (Operation::EmitAs).
template <class EmitChecked, class D, class... S>
[[gnu::always_inline]] inline void EmitCall(const char* name, Loc loc, uint32_t kind, uint64_t form,
                                            EmitChecked emit_checked, const LocalTensor<D>& dst,
                                            const LocalTensor<S>&... src) {
  Core& core = ThisCore();
  const CallKey key = KeyOf(name, loc, kind, form, dst, src...);
  core.At(loc);
  if (form == 0 || !EmitCached(core, key, dst, src...)) emit_checked(key);
}

// --- count form ----------------------------------------------------------------------------------------------------------

GNT_NOINLINE inline void EmitCheckedCount(CallKey key, Computes how, const RawTensor* operands, uint32_t many,
                                          uint32_t widest) {
  const Loc loc{key.file, key.line};
  const int32_t count = static_cast<int32_t>(key.form);
  EmitOperation(key.op, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
    if (count < 0) operation.Stop("count-negative", {{"op", key.op}, {"count", count}});
    for (uint32_t i = 0; i < many; ++i) {
      operation.Made({Extent::Form::Count, operands[i].element_bytes, key.form})
          .Local(RoleOf(i, many), operands[i], key.form * operands[i].element_bytes,
                 i == 0 ? Access::Write : Access::Read);
      if (i != 0 && operands[i].floats && how.flow != Flow::Moves)
        WarnOfIndices(operation, key.op, RoleOf(i, many), operands[i], key.form * operands[i].element_bytes);
    }
    const uint64_t bytes = key.form * widest;
    operation.Flows(how).Complete(key.form, static_cast<uint32_t>((bytes + kRepeatBytes - 1) / kRepeatBytes), widest);
    return operation.EmitAs(key);
  });
}

// Emits an instruction on the first `count` elements of every operand.
template <class D, class... S>
[[gnu::always_inline]] inline void EmitCount(Core& core, const char* name, Loc loc, Computes how, int32_t count,
                                             const LocalTensor<D>& dst, const LocalTensor<S>&... src) {
  const CallKey key = KeyOf(name, loc, 0, static_cast<uint32_t>(count), dst, src...);
  core.At(loc);
  if (EmitCached(core, key, dst, src...)) [[likely]]
    return;
  const RawTensor operands[] = {dst, src...};
  EmitCheckedCount(key, how, operands, 1 + sizeof...(S), kWidest<D, S...>);
}

// --- mask-and-repeat form ------------------------------------------------------------------------------------------------

// What an operand's layout describes, and the meaning of its two numbers, `first` and `second`.
enum class Fills : uint8_t {
  Lanes,   // lanes: block stride and repeat stride, in blocks of 32 bytes
  Spread,  // the same, where each block has one element of the source
  Rows,    // one row for each repeat: bytes of a row, and bytes from row to row
  Pairs,   // the same, where a row is a value and its index
  Once     // one row for all repeats: its bytes; `second` is not used
};
inline constexpr bool AreLanes(Fills fills) { return fills == Fills::Lanes || fills == Fills::Spread; }
inline constexpr bool AreRows(Fills fills) { return fills == Fills::Rows || fills == Fills::Pairs; }

// The layout of an operand's repeats in memory, and the alignment of its address.
struct OperandLayout {
  uint32_t first;
  uint32_t second;
  Fills fills = Fills::Lanes;
  uint32_t align = kBlockBytes;

  // Returns the number of bytes from the operand's start to one past the last byte that the plan touches.
  uint64_t Bytes(const Plan& plan, uint32_t element_bytes) const {
    switch (fills) {
      case Fills::Lanes:
      case Fills::Spread: return PlanBytes(plan, {first, second}, element_bytes);
      case Fills::Rows:
      case Fills::Pairs: return BytesOfRows(plan.repeats, first, second);
      default: return first;
    }
  }
  // Returns the parameters of the call that make the operand.
  Extent Made(const Plan& plan, uint32_t element_bytes) const {
    switch (fills) {
      case Fills::Lanes:
      case Fills::Spread: return {Extent::Form::Repeats, element_bytes, plan.repeats, plan.Reach(), first, second};
      case Fills::Rows:
      case Fills::Pairs:
        return Extent::OfRows(Extent::Form::Results, element_bytes, plan.repeats, first, second, first);
      default: return {};
    }
  }
};

template <class T>
struct RepeatOperand {
  const LocalTensor<T>& tensor;
  OperandLayout layout;

  RepeatOperand(const LocalTensor<T>& tensor, Strides strides) : tensor(tensor), layout{strides.blk, strides.rep} {}
  RepeatOperand(const LocalTensor<T>& tensor, const OperandLayout& layout) : tensor(tensor), layout(layout) {}
};

// Returns one word that holds the number of repeats, the leading lanes of a repeat (`lanes`; in the last one `last`)
// and the layouts of the operands. Returns 0 if they do not fit, which is rare.
template <class... Layout>
[[gnu::always_inline]] inline uint64_t FormOf(uint32_t repeats, uint32_t lanes, uint32_t last,
                                              const Layout&... layouts) {
  constexpr uint32_t kEach = 40 / sizeof...(Layout);
  constexpr uint32_t kFirst = (kEach - 3) / 2;
  uint64_t form = repeats | lanes << 8 | last << 16;
  uint32_t lost = (repeats | lanes | last) >> 8;
  uint32_t used = 24;
  ((form |= (layouts.first | uint64_t{layouts.second} << kFirst) << used,
    lost |= layouts.first >> kFirst | layouts.second >> (kEach - kFirst), used += kEach),
   ...);
  return lost == 0 ? form : 0;
}
template <class... T>
[[gnu::always_inline]] inline CallKey RepeatKey(const char* name, Loc loc, uint64_t form,
                                                const RepeatOperand<T>&... operands) {
  uint32_t kinds = CallKey::kRepeats, at = 0;
  ((kinds |= CallKey::FillsOf(at++, static_cast<uint32_t>(operands.layout.fills))), ...);
  return KeyOf(name, loc, kinds, form, operands.tensor...);
}

struct RawRepeatOperand {
  RawTensor tensor;
  OperandLayout layout;
};

GNT_NOINLINE inline void EmitCheckedRepeats(const CallKey& key, const Plan& plan, Computes how,
                                            const RawRepeatOperand* operands, uint32_t many) {
  EmitOperation(key.op, Kind::Vector, Pipe::V, {key.file, key.line}, [&](Operation& operation) {
    if (plan.repeats == 0)
      operation.core().NoteNothingDone({key.op,
                                        {key.file, key.line},
                                        operands[0].tensor.buffer,
                                        operands[0].layout.Made(plan, operands[0].tensor.element_bytes)});
    for (uint32_t i = 0; i < many; ++i) {
      const auto& [tensor, layout] = operands[i];
      operation.Made(layout.Made(plan, tensor.element_bytes));
      operation.Local(RoleOf(i, many), tensor, layout.Bytes(plan, tensor.element_bytes),
                      i == 0 ? Access::Write : Access::Read, layout.align);
      const bool computes = how.flow != Flow::Moves || operands[0].layout.fills == Fills::Spread;
      if (i != 0 && tensor.floats && computes && plan.prefix)  // a mask of bits may leave the indices out
        WarnOfIndices(operation, key.op, RoleOf(i, many), tensor, layout.Bytes(plan, tensor.element_bytes));
      if (AreLanes(layout.fills)) operation.Strides(layout.first, layout.second);
      if (AreRows(layout.fills)) operation.Rows(plan.repeats, layout.first, layout.second);
    }
    operation.Flows(how).Complete(plan, kRepeatBytes / plan.lanes);
    return operation.EmitAs(key);
  });
}

template <class... T>
GNT_NOINLINE void EmitCheckedRepeatsOf(const CallKey& key, const Plan& plan, Computes how,
                                       const RepeatOperand<T>&... operands) {
  const RawRepeatOperand all[] = {{operands.tensor, operands.layout}...};
  EmitCheckedRepeats(key, plan, how, all, sizeof...(operands));
}

// Whether the cached call at the place of `key` has the same mask as `plan`.
inline bool HasBits(const Core& core, const CallKey& key, const Plan& plan) {
  return core.cached != nullptr && core.cached->PlaceOf(key).shape.active == plan.Active();
}

// Emits an instruction on the lanes of the plan; the destination is the first operand.
template <class... T>
[[gnu::always_inline]] inline void EmitRepeats(const char* name, Loc loc, const Plan& plan, Computes how,
                                               const RepeatOperand<T>&... operands) {
  Core& core = ThisCore();
  // The form has no place for the bits of a mask, so HasBits compares them.
  const uint64_t form = plan.prefix ? FormOf(plan.repeats, plan.first, plan.last, operands.layout...)
                                    : FormOf(plan.repeats, 0, 0, operands.layout...);
  const CallKey key = RepeatKey(name, loc, form, operands...);
  core.At(loc);
  if (form != 0 && (plan.prefix || HasBits(core, key, plan)) && EmitCached(core, key, operands.tensor...)) [[likely]]
    return;
  EmitCheckedRepeatsOf(key, plan, how, operands...);
}
// Emits an instruction on whole repeats of `lanes` lanes if the call is cached; otherwise emits nothing and returns
// false.
template <class... T>
[[gnu::always_inline]] inline bool TryEmitWholeRepeats(Core& core, const char* name, Loc loc, uint32_t repeats,
                                                       uint32_t lanes, const RepeatOperand<T>&... operands) {
  const uint64_t form = FormOf(repeats, lanes, lanes, operands.layout...);
  return form != 0 && EmitCached(core, RepeatKey(name, loc, form, operands...), operands.tensor...);
}

}  // namespace gn_twin
