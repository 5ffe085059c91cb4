// The cache of repeated calls. These are vector instructions whose events the observers have already seen, so the
// observers only recheck them.
//
// A loop issues the same few instructions again and again. Facts that follow from a call alone are computed once and
// cached: that its operands are aligned and inside their memory, which bytes they cover, and that they do not overlap.
// Everything else is checked each time: whether its tensors still exist, whether its sources hold values, and whether
// another pipe has worked since.
#pragma once
#include "gn_twin/events/byte_masks.h"
#include "gn_twin/events/block_span.h"
#include "gn_twin/events/footprint.h"
#include "gn_twin/events/gather_ranges.h"
#include "gn_twin/events/fast_events.h"

namespace gn_twin {

// A call of an instruction. Two calls have the same event if their keys, shapes and offsets (if any) are equal.
struct CallKey {
  static constexpr uint32_t kMost = 4;
  // The form of the call, in addition to KindOf of its operands.
  static constexpr uint32_t kGathers = 1u << 28;  // offsets in memory, which are compared too
  static constexpr uint32_t kRows = 1u << 29;     // rows of a copy
  static constexpr uint32_t kRepeats = 1u << 30;  // mask and repeat
  static constexpr uint32_t kOther = 1u << 31;    // any other form: it has a shape; its key was made from its event
  const char* op = nullptr;                       // compared by address: a literal of the library
  const char* file = nullptr;
  uint32_t line = 0;
  uint32_t kinds = 0;             // KindOf the operands, and the form
  uint64_t form = 0;              // elements, or all numbers of a call with repeats or rows; with a shape: repeats
  const uint8_t* at[kMost] = {};  // the destination, then the sources

  // Returns the bits of `kinds` for operand number `index`: its element size and, in a key made from an event, also its
  // access and whether it has strides.
  static constexpr uint32_t KindOf(uint32_t index, uint32_t element_bytes, Access access = Access::Read,
                                   bool strided = false) {
    return (element_bytes | static_cast<uint32_t>(access) << 4 | static_cast<uint32_t>(strided) << 6) << 7 * index;
  }
  // Returns the bits of `kinds` for the meaning of an operand's two layout numbers (Fills in tensor/emit.h). These bits
  // take the place of the access, which is known: a call with repeats writes its destination and reads the others.
  static constexpr uint32_t FillsOf(uint32_t index, uint32_t fills) { return fills << (7 * index + 4); }

  template <uint32_t kOperands>
  [[gnu::always_inline]] bool Equals(const CallKey& other) const {
    if (at[0] != other.at[0] || line != other.line || form != other.form || kinds != other.kinds) return false;
    if (op != other.op || file != other.file) return false;
    for (uint32_t i = 1; i < kOperands; ++i)
      if (at[i] != other.at[i]) return false;
    return true;
  }
};

// The layout of an operand's repeats: its strides in 32-byte blocks or, for rows, the bytes of a row and the pitch. The
// layout is one word, because every call compares it for every operand.
class RepeatLayout {
 public:
  RepeatLayout() = default;
  RepeatLayout(uint64_t blk_or_row, uint64_t rep_or_pitch) : word_(blk_or_row | rep_or_pitch << 32) {}
  uint32_t BlkOrRow() const { return static_cast<uint32_t>(word_); }
  uint32_t RepOrPitch() const { return static_cast<uint32_t>(word_ >> 32); }
  bool operator==(const RepeatLayout&) const = default;

 private:
  uint64_t word_ = 0;
};

// The active lanes of a call, and the layouts of its operands.
struct CallShape {
  ActiveLanes active;
  RepeatLayout layout[CallKey::kMost];
};
inline RepeatLayout LayoutOf(const Operand& operand) {
  if (operand.strided) return {operand.blk_stride, operand.rep_stride};
  return {operand.row_bytes, operand.row_pitch};
}

// Which bytes of a range an operand touches.
enum class Touches : uint8_t {
  Whole,  // all
  Rows,   // rows at a pitch
  Runs    // other runs, for example by the bits of a mask
};

// A call whose event was emitted, and the data that observers keep about it, most frequently read first.
struct CachedCall {
  CallKey key;
  uint32_t last = 0;  // tag of the call that Insert put here last; Insert caches it when it comes again
  uint32_t parts = 0;
  uint32_t number = 0;    // unique in the launch; 0 is unused
  bool replaces = false;  // the results fill whole 32-byte blocks and depend on sources
  bool fills = false;     // the results fill whole 32-byte blocks and depend on no source
  bool scratch = false;   // one of the parts is scratch memory
  bool gaps = false;      // one of the parts has gaps
  Flow flow = Flow::Moves;
  uint16_t tensor = 0;  // as in Operand, of the destination in the call's event
  uint32_t site = 0;    // number of the call's access site in the race checker
  uint32_t epoch = 0;   // RaceState::epoch when the race checker last checked the call
  struct Part {
    LocalRange range;
    Access access = Access::Read;
    Touches touches = Touches::Whole;
    uint8_t element_bytes = 1;
    BlockSpan blocks;  // the blocks of the range, if it is touched whole
    ByteMasks masks;   // the touched bytes, if it has gaps
    uint32_t Bytes() const { return range.end - range.begin; }
  } part[CallKey::kMost];             // the destination, then the others
  StridedRange rows[CallKey::kMost];  // of each part that has rows
  CallShape shape;
  GatherRanges pieces;    // the pieces of a gather, at the offsets that part[1] held in the event; none for other calls
  const char* role = "";  // of the destination

  bool Gathers() const { return pieces.count != 0; }
  // Whether `event`, which has no pieces, is this call. Only for a call whose key was made from its event.
  bool Is(const Event& event) const {
    if (key.line != event.loc.line || key.op != event.op || key.file != event.loc.file || key.form != event.repeats)
      return false;
    if (parts != event.operands || !(shape.active == event.active)) return false;
    uint32_t kinds = CallKey::kOther;
    for (uint32_t i = 0; i < parts; ++i) {
      const Operand& operand = event.operand[i];
      kinds |= CallKey::KindOf(i, operand.element_bytes, operand.access, operand.strided);
      if (key.at[i] != operand.at || part[i].Bytes() != operand.bytes) return false;
      if (shape.layout[i] != LayoutOf(operand)) return false;
    }
    return key.kinds == kinds;
  }
};

// The cached calls of one core.
class CachedCalls : public FastEvents {
 public:
  static constexpr uint32_t kRoom = 512;

  CachedCalls() {}

  // Repeats the checks of a cached call and marks its results as written. The caller has checked that the operands are
  // inside their tensors and not freed. Returns false if observers need the call's whole event, for example if a source
  // lacks values.
  virtual bool Recheck(Core& core, CachedCall& call) = 0;
  // Fills in `call` after `event` was emitted; Insert sets its whole key and its shape. Returns false for an event that
  // cannot be cached.
  virtual bool Learn(Core& core, const Event& event, CachedCall& call) = 0;

  // Returns the place of a call with this line and these addresses; missing sources are null. Each call has two
  // possible places. With only one, some of the hundred calls of a loop would share one of the 512 places, and calls
  // that keep replacing each other would never be cached.
  CachedCall& PlaceOf(uint32_t line, const uint8_t* dst, const uint8_t* src0, const uint8_t* src1) {
    const uint32_t first = FirstPlace(line, dst, src0, src1);
    const CallKey& key = all_[first].key;
    const bool there = key.line == line && key.at[0] == dst && key.at[1] == src0 && key.at[2] == src1;
    return there ? all_[first] : all_[first ^ 1];
  }
  // Returns the event of a call of this cache, without pieces.
  const Event& EventOf(const CachedCall& call) const { return events_[&call - all_]; }
  CachedCall& PlaceOf(const CallKey& key) { return PlaceOf(key.line, key.at[0], key.at[1], key.at[2]); }
  // Caches a call like the next function, with a key made from the call's event.
  GNT_COLD void Insert(Core& core, const Event& event) {
    CallKey key{event.op, event.loc.file, event.loc.line, CallKey::kOther, event.repeats};
    CallShape shape{event.active};
    for (uint32_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      key.kinds |= CallKey::KindOf(i, operand.element_bytes, operand.access, operand.strided);
      key.at[i] = operand.at;
      shape.layout[i] = LayoutOf(operand);
    }
    Insert(core, event, key, shape);
  }
  // Caches a call at its second occurrence, unless another call has taken its place in the meantime. A call that occurs
  // once is not worth caching.
  GNT_COLD void Insert(Core& core, const Event& event, const CallKey& key, const CallShape& shape = {}) {
    const uint32_t pair = FirstPlace(key.line, key.at[0], key.at[1], key.at[2]) / 2;
    const uint32_t tag = TagOf(key);
    for (uint32_t i = 0; i < 2; ++i) {
      CachedCall& call = all_[2 * pair + i];
      if (call.last != tag) continue;
      call.key = Learn(core, event, call) ? key : CallKey{};
      call.shape = shape;
      CopyEvent(events_[2 * pair + i], event);
      return;
    }
    turns_[pair] ^= 1;  // two calls that want the same place get one each
    const uint32_t place = 2 * pair + turns_[pair];
    if (all_[place].last == 0) used_[used_count_++] = static_cast<uint16_t>(place);
    all_[place].last = tag;
  }

 protected:
  void Forget() {
    for (; used_count_ > 0; --used_count_) {
      CachedCall& call = all_[used_[used_count_ - 1]];
      call.key = CallKey{};  // the whole key, because PlaceOf would still find a key with its line and addresses
      call.last = 0;
    }
  }

 private:
  static constexpr uint32_t kBits = 9;
  static_assert(kRoom == 1u << kBits);

  // Returns the first of a call's two places. The hash keeps apart the calls of a loop, which works on a few addresses
  // or on rows at a pitch.
  static uint32_t FirstPlace(uint32_t line, const uint8_t* dst, const uint8_t* src0, const uint8_t* src1) {
    const uintptr_t all = reinterpret_cast<uintptr_t>(dst) + 3 * reinterpret_cast<uintptr_t>(src0) +
                          5 * reinterpret_cast<uintptr_t>(src1);
    return ((static_cast<uint32_t>(all) / kBlockBytes + line * 0x10001u) * 0x9e3779b1u) >> (32 - kBits);
  }
  static uint32_t TagOf(const CallKey& key) {
    uint64_t tag = key.line + (key.form << 24);
    for (const uint8_t* at : key.at) tag = tag * 31 + reinterpret_cast<uintptr_t>(at);
    return static_cast<uint32_t>(tag ^ tag >> 32) | 1;
  }

  CachedCall all_[kRoom];
  uint8_t turns_[kRoom / 2] = {};
  uint16_t used_[kRoom] = {};  // the places that Forget has to clear: a block may use few of them
  uint32_t used_count_ = 0;
  union {
    Event events_[kRoom];  // of the calls; never initialised, because few are used
  };
};

}  // namespace gn_twin
