// Finds the instruction that turned numbers into NaN, and warns if the block stores that NaN.
//
// TraceNan runs when the next operation begins, while the operands are still there (core/nan_origins.h says when). A NaN
// that is never stored is no mistake, because instructions also compute lanes whose results are not used. Arrays that hold
// NaN or infinity give NaN rightly, so that launches with one get no warning. Only observed libraries have it.
#pragma once
#include "gn_twin/base/float16.h"
#include "gn_twin/core/core.h"
#include "gn_twin/events/footprint.h"

namespace gn_twin {

inline bool HoldsNan(float value) { return value != value; }
inline bool NotFinite(float value) { return !FiniteFloat(value); }
template <class T>
inline bool AnyNotFinite(const T* at, uint64_t count) {
  uint32_t any = 0;
  for (uint64_t i = 0; i < count; ++i) any |= NotFinite(static_cast<float>(at[i])) ? 1u : 0u;
  return any != 0;
}
template <class T>
inline bool AnyNan(const T* at, uint64_t count) {
  uint32_t any = 0;
  for (uint64_t i = 0; i < count; ++i) any |= HoldsNan(static_cast<float>(at[i])) ? 1u : 0u;
  return any != 0;
}

// The elements of a float operand, in the order of the instruction.
class FloatOperand {
 public:
  FloatOperand(const Event& event, const Operand& operand) : event_(event), operand_(operand) {}
  const uint8_t* Begin() const { return operand_.at; }
  const uint8_t* End() const { return operand_.at + operand_.bytes; }
  // Whether `other` has the same bytes, so that an instruction that writes it overwrites this operand.
  bool IsIn(const Operand& other) const { return Begin() < other.at + other.bytes && other.at < End(); }
  // Calls visit(index, value) until it returns true; returns whether it did.
  template <class Visit>
  bool Any(Visit visit) const {
    uint64_t index = 0;
    bool found = false;
    ForRuns(event_, operand_, [&](const uint8_t* at, uint64_t bytes) {
      for (const uint8_t* const end = at + bytes; at < end && !found; at += operand_.element_bytes)
        found = visit(index++, At(at));
    });
    return found;
  }
  bool HasNan() const {
    return Any([](uint64_t, float value) { return HoldsNan(value); });
  }
  // Sets `value` to element `wanted`, or to the only element; returns false if there is none.
  bool Get(uint64_t wanted, float& value) const {
    bool one = false;
    return Any([&](uint64_t index, float is) {
             if (index == 0 || index == wanted) value = is;
             one = index == 0;
             return index == wanted;
           }) ||
           one;
  }

 private:
  float At(const uint8_t* at) const {
    if (operand_.element_bytes == 2) return FloatFromHalfBits(*reinterpret_cast<const uint16_t*>(at));
    return *reinterpret_cast<const float*>(at);
  }
  const Event& event_;
  const Operand& operand_;
};

// Returns the instruction that was emitted last; null if it was looked at before.
inline const Event* LastOf(Core& core) {
  NanOrigins& nans = core.nans;
  const Event* event = nullptr;
  if (nans.call != nullptr) {
    if (core.cached != nullptr) event = &core.cached->EventOf(*nans.call);
  } else if (nans.has_event) {
    event = &nans.event;
  }
  nans.call = nullptr;
  nans.has_event = false;
  return event;
}

// Looks at the results of one instruction. Its operands are still in memory, but for those that its results overwrote.
class NanSearch {
 public:
  NanSearch(Core& core, const Event& event, const Operand& dst)
      : core_(core), nans_(core.nans), event_(event), dst_(dst), by_lane_(IsLaneByLane(event.flow)) {}

  GNT_COLD void Run() {
    const FloatOperand results(event_, dst_);
    bool nan = false;
    uint32_t record = NanOrigins::kMost;
    uint32_t looked = 0;
    results.Any([&](uint64_t index, float value) {
      if (!NotFinite(value)) return false;
      nan = nan || HoldsNan(value);
      NanOrigins::Made one;
      if (Makes(index, value, one)) {
        if (!HoldsNan(value)) {
          nans_.infinite = one;
          nans_.has_infinite = true;
          nans_.AtLeast(NanOrigins::Flags);
        } else {
          record = nans_.Add(one);
          return true;
        }
      }
      return ++looked == kMostLooked;
    });
    if (nans_.look != NanOrigins::Results) return;
    nan = nan || results.HasNan();
    if (record == NanOrigins::kMost && nan) record = OfSources();
    record != NanOrigins::kMost ? nans_.Spreads(results.Begin(), results.End(), record)
                                : nans_.Forget(results.Begin(), results.End());
  }

 private:
  static constexpr uint32_t kMostLooked = 256;  // results that are not finite
  using Made = NanOrigins::Made;

  template <class Visit>
  void ForSources(Visit visit) const {
    for (uint32_t i = 0; i < event_.operands; ++i) {
      const Operand& operand = event_.operand[i];
      if (&operand != &dst_ && operand.access == Access::Read && operand.floats && operand.space == Space::UB)
        visit(operand, FloatOperand(event_, operand));
    }
  }
  uint32_t OfSources() const {
    uint32_t record = NanOrigins::kMost;
    ForSources([&](const Operand&, const FloatOperand& source) {
      if (record == NanOrigins::kMost) record = nans_.Of(source.Begin(), source.End());
    });
    if (record == NanOrigins::kMost && HasNumber() && HoldsNan(nans_.number) && nans_.count != 0)
      record = nans_.count - 1;
    return record;
  }
  bool HasNumber() const { return nans_.number_op == event_.op && nans_.number_line == event_.loc.line; }

  // Whether the instruction made this NaN or infinity from numbers; then fills in `one`.
  bool Makes(uint64_t index, float result, NanOrigins::Made& one) {
    one.op = event_.op;
    one.loc = event_.loc;
    one.index = index;
    bool from_numbers = true, sources = false;
    ForSources([&](const Operand& operand, const FloatOperand& source) {
      sources = true;
      if (source.IsIn(dst_)) {
        from_numbers = from_numbers && nans_.Of(source.Begin(), source.End()) == NanOrigins::kMost;
        return Add(one, 0.0f, Made::Nothing);
      }
      if (!by_lane_) return from_numbers = AddOfMany(one, source, result) && from_numbers, void();
      float value = 0.0f;
      if (!source.Get(index, value)) return;
      from_numbers = from_numbers && (HoldsNan(result) ? !HoldsNan(value) : !NotFinite(value));
      Add(one, value);
    });
    if (HasNumber()) {
      one.by_scalar = NotFinite(nans_.number);
      if (HoldsNan(nans_.number) && !(kHasFloatFlags && nans_.scalar_raised)) return false;  // the kernel may mean it
      if (NotFinite(nans_.number) && !HoldsNan(result)) return false;
      Add(one, nans_.number);
      sources = true;
    }
    if (!from_numbers || !sources) return false;
    Restore(result, one);
    one.grows = event_.formula != nullptr && one.values == 1 && one.known[0] != Made::Nothing &&
                !NotFinite(one.value[0]) && __builtin_fabsf(one.value[0]) > 1.0f;
    for (uint32_t i = 0; i < one.values; ++i)
      one.of_infinity = one.of_infinity || (!HoldsNan(one.value[i]) && NotFinite(one.value[i]));
    return true;
  }
  static void Add(Made& one, float value, Made::Known known = Made::Value) {
    if (one.values == Made::kMost) return;
    one.value[one.values] = value;
    one.known[one.values++] = known;
  }
  // Adds the elements of a source, all of which may be in the result, that are not finite: two at most, or the first.
  bool AddOfMany(NanOrigins::Made& one, const FloatOperand& source, float result) const {
    bool from_numbers = true;
    const uint32_t before = one.values;
    float last = 0.0f;
    source.Any([&](uint64_t, float value) {
      if (!NotFinite(value)) return false;
      from_numbers = from_numbers && HoldsNan(result) && !HoldsNan(value);
      if (one.values < before + 2 && (one.values == before || value != last)) Add(one, value);
      last = value;
      return !from_numbers;
    });
    float first = 0.0f;
    if (one.values == before && source.Get(0, first)) Add(one, first);
    return from_numbers;
  }

  // Finds operands that the result overwrote: the value that was kept before (forms.h); else that of 0 and infinity
  // with which the instruction computes this result; else the number from which on a function of one operand is
  // infinite.
  void Restore(float result, Made& one) const {
    const bool lost[] = {one.known[0] != Made::Value, one.values == 2 && one.known[1] != Made::Value};
    if ((!lost[0] && !lost[1]) || one.values > 2) return;
    if (one.values == 1 && nans_.lost_op == event_.op && nans_.lost_line == event_.loc.line && HoldsNan(result)) {
      one.value[0] = nans_.lost;
      one.known[0] = Made::Value;
    } else if (event_.formula != nullptr && !FindSpecial(result, lost, one) && one.values == 1 && !HoldsNan(result)) {
      FindLimit(result, one);
    }
  }
  bool FindSpecial(float result, const bool (&lost)[2], Made& one) const {
    constexpr float kInfinity = __builtin_inff();
    const float given[] = {one.value[0], one.value[1]};
    const auto fits = [&](float special) {
      if (NotFinite(special) && !HoldsNan(result)) return false;  // it is made from numbers
      return Gives(lost[0] ? special : given[0], lost[1] ? special : given[1], result);
    };
    const bool zero = fits(0.0f), plus = fits(kInfinity), minus = fits(-kInfinity);
    if (!zero && !plus && !minus) return false;
    const bool infinite = (plus || minus) && (!zero || nans_.has_infinite);
    for (uint32_t i = 0; i < one.values; ++i) {
      if (!lost[i]) continue;
      one.value[i] = !infinite ? 0.0f : plus ? kInfinity : -kInfinity;
      one.known[i] = infinite && plus && minus ? Made::EitherSign : Made::Value;
    }
    return true;
  }
  void FindLimit(float result, Made& one) const {
    float below = 0.0f, above = dst_.element_bytes == 2 ? 65504.0f : __FLT_MAX__;
    if (!Gives(above, 0.0f, result)) return;
    for (uint32_t i = 0; i < 200 && below < above; ++i) {
      const float middle = below + (above - below) / 2;
      if (middle == below || middle == above) break;
      (Gives(middle, 0.0f, result) ? above : below) = middle;
    }
    one.value[0] = above;
    one.known[0] = Made::Above;
  }
  // Whether the instruction computes this NaN, or infinity of any sign, from these elements.
  bool Gives(float first, float second, float result) const {
    const float made = event_.formula(first, second);
    return HoldsNan(result) ? HoldsNan(made) : !HoldsNan(made) && NotFinite(made);
  }

  Core& core_;
  NanOrigins& nans_;
  const Event& event_;
  const Operand& dst_;
  bool by_lane_;
};

// Looks at the instruction that was emitted last. Called before the next operation changes its operands.
GNT_COLD inline void TraceNan(Core& core) {
  const bool invalid = (FloatFlags() & kInvalid) != 0;
  const bool not_finite = MayBeNotFinite();
  if (not_finite) ClearFloatFlags();
  const Event* const event = LastOf(core);
  const Operand* dst = nullptr;
  for (uint32_t i = 0; event != nullptr && i < event->operands && dst == nullptr; ++i) {
    const Operand& operand = event->operand[i];
    if (operand.access == Access::Write && operand.floats && operand.space == Space::UB) dst = &operand;
  }
  const uint32_t before = core.nans.count;
  if (dst != nullptr) NanSearch(core, *event, *dst).Run();
  // No instruction accounts for the flag, so the scalar unit may have raised it.
  if (kHasFloatFlags && invalid && core.nans.count == before) core.nans.scalar_raised = true;
  if (not_finite || dst != nullptr) ClearFloatFlags();  // the search compared NaN, and computed again
}

// Called for a number that an instruction gets, and that is NaN or infinity.
GNT_COLD inline void TraceNumber(Core& core) {
  if (MayBeNotFinite()) TraceNan(core);
  core.nans.AtLeast(HoldsNan(core.nans.number) && core.nans.scalar_raised ? NanOrigins::Results : NanOrigins::Flags);
}

GNT_COLD inline void ReportNan(Core& core, Loc stored, uint32_t record);

// Called for NaN or infinity that the scalar unit writes. Records a NaN that it made itself. stored: into global memory.
GNT_COLD inline void TraceScalar(Core& core, const char* op, Loc loc, float value, bool stored) {
  if (MayBeNotFinite()) TraceNan(core);
  core.nans.AtLeast(NanOrigins::Flags);
  if (!HoldsNan(value)) return;
  if (core.nans.count != 0) return stored ? ReportNan(core, loc, core.nans.count - 1) : void();
  if (!core.nans.scalar_raised) return;
  NanOrigins::Made one;
  one.op = op;
  one.loc = loc;
  one.by_scalar = true;
  one.value[0] = __builtin_nanf("");
  one.values = 1;
  core.nans.Add(one);
  if (stored) ReportNan(core, loc, 0);
}

// Whether an input array holds NaN or infinity: then NaN may be right. The twin knows the size of an array's elements,
// not their type.
inline bool AnyInputNotFinite(const Core& core) {
  for (uint32_t i = 0; i < core.job->arg_count; ++i) {
    const GntArg& arg = core.job->args[i];
    if (arg.kind != GNT_TENSOR || arg.data == nullptr || (arg.role != GNT_IN && arg.role != GNT_INOUT)) continue;
    if (arg.element_bytes == 4 && AnyNotFinite(reinterpret_cast<const float*>(arg.data), arg.bytes / 4)) return true;
    if (arg.element_bytes == 2 && AnyNotFinite(reinterpret_cast<const half*>(arg.data), arg.bytes / 2)) return true;
  }
  return false;
}

// Writes the operands as "0, inf".
template <uint32_t kRoom>
void PutOperands(char (&text)[kRoom], const NanOrigins::Made& one) {
  uint32_t used = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < one.values && used + 40 < kRoom; ++i) {
    const char* const between = i == 0 ? "" : ", ";
    const bool nan = HoldsNan(one.value[i]), above = one.known[i] == NanOrigins::Made::Above;
    const char* const word = nan                                            ? "NaN"
                             : one.known[i] == NanOrigins::Made::EitherSign ? "infinity"
                             : one.known[i] == NanOrigins::Made::Nothing    ? "..."
                                                                            : nullptr;
    used += static_cast<uint32_t>(word != nullptr ? __builtin_snprintf(text + used, kRoom - used, "%s%s", between, word)
                                                  : __builtin_snprintf(text + used, kRoom - used, "%s%s%.*g", between,
                                                                       above ? "> " : "", above ? 3 : 6,
                                                                       static_cast<double>(one.value[i])));
  }
}

// Warns of a NaN that the block stores at `stored`: names the instruction that made it, once in a launch.
GNT_COLD inline void ReportNan(Core& core, Loc stored, uint32_t record) {
  // Unwritten memory holds NaN, and then it may come from there.
  if (core.HasFound({"nan-from-numbers", "ub-never-written", "copy-tail-never-written", "gm-read-before-write",
                     "value-unwritten"}))
    return;
  if (AnyInputNotFinite(core)) return;
  const NanOrigins::Made& one = core.nans.made[record];
  char operands[160], of_infinite[160];
  PutOperands(operands, one);
  FieldList fields{{"op", one.op},
                   {"operands", operands},
                   {"index", one.index},
                   {"stored_file", stored.file},
                   {"stored_line", stored.line}};
  const NanOrigins::Made& before = core.nans.infinite;
  if (one.by_scalar) {
    fields.Add({"cause", "nan-of-scalar"});
  } else if (one.of_infinity && core.nans.has_infinite) {
    PutOperands(of_infinite, before);
    fields.Add({"cause", before.grows ? "exp-overflow" : "nan-from-infinity"});
    fields.Add({"before_op", before.op});
    fields.Add({"before_operands", of_infinite});
    fields.Add({"before_file", before.loc.file});
    fields.Add({"before_line", before.loc.line});
  }
  core.Warn("nan-from-numbers", one.loc, {}, fields);
}

// Reports NaN in rows that a block stores. Called if the block has made NaN.
template <class T>
GNT_COLD void ReportStoredNan(Core& core, Loc stored, const uint8_t* rows, uint32_t count, uint64_t bytes,
                              uint64_t pitch) {
  bool any = false;
  for (uint32_t row = 0; row < count && !any; ++row)
    any = AnyNan(reinterpret_cast<const T*>(rows + row * pitch), bytes / sizeof(T));
  if (!any) return;
  const uint32_t record = core.nans.Of(rows, rows + (count - 1) * pitch + bytes);
  ReportNan(core, stored, record != NanOrigins::kMost ? record : core.nans.count - 1);
}

}  // namespace gn_twin
