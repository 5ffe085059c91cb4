// Tells observers of a vector instruction: in full after its operands were checked, or in a word where they know the call.
#pragma once
#include "gn_twin/lanes.h"

namespace gn_twin {

using AscendC::LocalTensor;

// Bytes of the widest element type: it sets how many lanes a repeat has.
template <class T, class... Ts>
inline constexpr uint32_t kWidest = sizeof(T);
template <class T, class U, class... Ts>
inline constexpr uint32_t kWidest<T, U, Ts...> = sizeof(T) > kWidest<U, Ts...> ? sizeof(T) : kWidest<U, Ts...>;

// The name of an operand in the documentation, of an instruction with `many`; the destination is the first.
inline const char* RoleOf(uint32_t index, uint32_t many) {
  static constexpr const char* kRoles[] = {"dst", "src0", "src1", "src2"};
  return many == 2 && index == 1 ? "src" : kRoles[index];
}

// Whether the first `bytes` of the tensor may be used, where its address was checked before.
[[gnu::always_inline]] inline bool StillHas(const Core& core, uint64_t room, uint16_t buffer, uint64_t bytes) {
  return bytes <= room && (buffer >= core.buffer_count || core.buffers[buffer].state != BufferState::Free);
}
template <class T>
[[gnu::always_inline]] inline bool StillHas(const Core& core, const LocalTensor<T>& tensor, uint64_t bytes) {
  return StillHas(core, uint64_t{tensor.GetSize()} * sizeof(T), tensor.BufferIndex(), bytes);
}

// --- count form ----------------------------------------------------------------------------------------------------------

GNT_ONCE inline void TellCount(Core& core, const CallKey& key, const RawTensor* operands, uint32_t many,
                               uint32_t widest) {
  const Loc loc{key.file, key.line};
  Operation operation(key.op, Kind::Vector, Pipe::V, loc);
  if (static_cast<int32_t>(key.count) < 0)
    operation.Stop("count-negative", {{"op", key.op}, {"count", static_cast<int32_t>(key.count)}});
  for (uint32_t i = 0; i < many; ++i)
    operation.Local(RoleOf(i, many), operands[i], uint64_t{key.count} * operands[i].element_bytes,
                    i == 0 ? Access::Write : Access::Read);
  const uint64_t bytes = uint64_t{key.count} * widest;
  const Event& event =
      operation.Flows(Flow::Lanes)
          .Complete(key.count, static_cast<uint32_t>((bytes + kRepeatBytes - 1) / kRepeatBytes), widest);
  core.Emit(event);
  if (core.known != nullptr) core.known->Told(core, event, key);
}

// An instruction on the first `count` elements of every operand.
template <class D, class... S>
[[gnu::always_inline]] inline void ObserveCount(Core& core, const char* name, Loc loc, int32_t count,
                                                const LocalTensor<D>& dst, const LocalTensor<S>&... src) {
  constexpr uint32_t kOperands = 1 + sizeof...(S);
  static_assert(kOperands <= CallKey::kMost);
  uint32_t kinds = CallKey::KindOf(0, sizeof(D)), at = 0;
  ((kinds |= CallKey::KindOf(++at, sizeof(S))), ...);
  const uint32_t n = static_cast<uint32_t>(count);
  const CallKey key{name, loc.file, loc.line, kinds, n, {dst.Bytes(), src.Bytes()...}};
  core.At(loc);
  if (core.known != nullptr) [[likely]] {
    KnownCall& call = core.known->PlaceOf(dst.Bytes(), loc.line);
    if (call.key.Equals<kOperands>(key) && StillHas(core, dst, uint64_t{n} * sizeof(D)) &&
        (StillHas(core, src, uint64_t{n} * sizeof(S)) && ...)) [[likely]]
      if (core.SaidAgain(call)) [[likely]]
        return;
  }
  const RawTensor operands[] = {dst, src...};
  TellCount(core, key, operands, kOperands, kWidest<D, S...>);
}

// --- mask-and-repeat form ------------------------------------------------------------------------------------------------

// What the layout of an operand says.
enum class Fills : uint8_t {
  Lanes,  // strides, for lanes like those of the sources
  Rows,   // a row for each repeat
  Once    // one row for all of them
};

struct RepeatOperand {
  RawTensor tensor;
  RepeatLayout layout;
  uint32_t align = kBlockBytes;  // of its address, in bytes
  Fills fills = Fills::Lanes;

  template <class T>
  RepeatOperand(const LocalTensor<T>& tensor, Strides strides) : tensor(tensor), layout{strides.blk, strides.rep} {}
  // The results of a reduction.
  template <class T>
  RepeatOperand(const LocalTensor<T>& tensor, uint64_t row_bytes, uint32_t align)
      : tensor(tensor), layout{row_bytes, 0}, align(align), fills(Fills::Once) {}
  template <class T>
  RepeatOperand(const LocalTensor<T>& tensor, uint64_t row_bytes, uint64_t pitch, uint32_t align)
      : tensor(tensor), layout{row_bytes, pitch}, align(align), fills(Fills::Rows) {}

  // To one past the last byte that the plan touches.
  uint64_t Bytes(const Plan& plan) const {
    const uint32_t first = layout.BlkOrRow();
    const uint32_t second = layout.RepOrPitch();
    switch (fills) {
      case Fills::Lanes: return Extent(plan, {first, second}, tensor.element_bytes);
      case Fills::Rows: return plan.repeats == 0 ? 0 : uint64_t{plan.repeats - 1} * second + first;
      default: return first;
    }
  }
};

GNT_ONCE inline void TellRepeats(Core& core, const char* name, Loc loc, Plan plan, const RepeatOperand* operands,
                                 uint32_t many, Flow flow) {
  CallKey key{name, loc.file, loc.line, CallKey::kRepeats, plan.repeats};
  CallShape shape{plan.Active()};
  Operation operation(name, Kind::Vector, Pipe::V, loc);
  for (uint32_t i = 0; i < many; ++i) {
    const RepeatOperand& one = operands[i];
    key.at[i] = one.tensor.at;
    key.kinds |= CallKey::KindOf(i, one.tensor.element_bytes);
    shape.layout[i] = one.layout;
    operation.Local(RoleOf(i, many), one.tensor, one.Bytes(plan), i == 0 ? Access::Write : Access::Read, one.align);
    if (one.fills == Fills::Lanes) operation.Strides(one.layout.BlkOrRow(), one.layout.RepOrPitch());
    if (one.fills == Fills::Rows) operation.Rows(plan.repeats, one.layout.BlkOrRow(), one.layout.RepOrPitch());
  }
  const Event& event = operation.Flows(flow).Complete(plan, kRepeatBytes / plan.lanes);
  core.Emit(event);
  if (core.known != nullptr) core.known->Told(core, event, key, shape);
}

// Whether the call has this operand, and it may still be used.
[[gnu::always_inline]] inline bool IsOperand(const Core& core, const KnownCall& call, uint32_t index,
                                             const RepeatOperand& one) {
  return call.key.at[index] == one.tensor.at && call.shape.layout[index] == one.layout &&
         StillHas(core, one.tensor.room, one.tensor.buffer, call.part[index].Bytes());
}

// An instruction on the lanes of the plan; the destination is the first operand. What is compared stays in registers: nothing here has
// an address before the call is told in full.
template <class... Operands>
[[gnu::always_inline]] inline void ObserveRepeats(const char* name, Loc loc, const Plan& plan, Flow flow,
                                                  const RepeatOperand& dst, const Operands&... src) {
  Core& core = ThisCore();
  core.At(loc);
  if (core.known != nullptr) [[likely]] {
    KnownCall& call = core.known->PlaceOf(dst.tensor.at, loc.line);
    const CallKey& key = call.key;
    uint32_t kinds = CallKey::kRepeats | CallKey::KindOf(0, dst.tensor.element_bytes), at = 0;
    ((kinds |= CallKey::KindOf(++at, src.tensor.element_bytes)), ...);
    at = 0;
    if (key.line == loc.line && key.op == name && key.file == loc.file && key.count == plan.repeats &&
        key.kinds == kinds && call.shape.active == plan.Active() && IsOperand(core, call, 0, dst) &&
        (IsOperand(core, call, ++at, src) && ...)) [[likely]]
      if (core.SaidAgain(call)) [[likely]]
        return;
  }
  const RepeatOperand operands[] = {dst, src...};
  TellRepeats(core, name, loc, plan, operands, 1 + sizeof...(src), flow);
}

}  // namespace gn_twin
