// Checks an operation's operands, and builds the event that it emits: the first two of its three steps (validate, emit,
// compute). Used in observed libraries only.
#pragma once
#include "gn_twin/causes/tensor_place.h"
#include "gn_twin/tensor/raw_tensor.h"

namespace gn_twin {

// Holds the offsets of an operand's pieces while its event is emitted (Operation::Pieces).
class PieceList {
 public:
  explicit PieceList(uint32_t most) : at_(new uint32_t[most > 0 ? most : 1]) {}
  ~PieceList() { delete[] at_; }
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;
  void Add(uint64_t offset) { at_[count_++] = static_cast<uint32_t>(offset); }
  const uint32_t* Data() const { return at_; }
  uint32_t Count() const { return count_; }

 private:
  uint32_t* at_;
  uint32_t count_ = 0;
};

class Operation;
// The proof that an operation was emitted. Only Operation::Emit and EmitAs make one.
class [[nodiscard]] Emission {
  friend class Operation;
  Emission() = default;
};

// Describes one operation and emits it: describe(operation) adds the operands, and returns what Emit returned. There is
// no other way to make an Operation, so one whose event never reaches the observers does not compile. (SyncAll once
// checked its workspace and emitted nothing: data that overlapped its counters were no race.)
template <class Describe>
inline void EmitOperation(const char* op, Kind kind, Pipe pipe, Loc loc, Describe describe);

class Operation {
 public:
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Adds a tensor operand. The instruction touches `bytes` bytes from its start. `align`: the documented alignment of
  // its address in bytes: 32 for operands of vector instructions and copies, less for the results of reductions.
  Operation& Local(const char* role, const RawTensor& tensor, uint64_t bytes, Access access,
                   uint32_t align = kBlockBytes) {
    Check(role, tensor, bytes, align);
    Add(role, tensor.at, bytes, Space::UB, access, tensor.element_bytes, tensor.floats);
    event_.operand[event_.operands - 1].tensor = static_cast<uint16_t>(tensor.number);
    return *this;
  }

  // Checks an operand as Local does, but does not add it to the event.
  void Check(const char* role, const RawTensor& tensor, uint64_t bytes, uint32_t align = kBlockBytes) {
    if (Fits(core_, tensor, bytes, align)) [[likely]]
      return;
    if (bytes != 0 || tensor.at == nullptr) RefuseOperand(role, tensor, bytes, WholeRoom(tensor), align);
  }

  template <class T>
  Operation& Global(const char* role, const AscendC::GlobalTensor<T>& tensor, uint64_t bytes, Access access) {
    if (bytes != 0 && !tensor.Holds(bytes)) [[unlikely]]
      tensor.Check(core_, event_.op, role, bytes, event_.loc,
                   [&](uint64_t room, FieldList& fields) { AddNumbers(role, bytes, room, fields); });
    Add(role, reinterpret_cast<const uint8_t*>(tensor.Data()), bytes, Space::GM, access, sizeof(T), kIsFloat<T>);
    event_.operand[event_.operands - 1].cached = tensor.GetL2CacheHint() != AscendC::CacheMode::CACHE_MODE_DISABLE;
    return *this;
  }

  // Records which parameters of the call make the next operand.
  Operation& Made(const Extent& extent) {
    made_ = extent;
    return *this;
  }

  // Records the documented number of elements of a work buffer, for a finding if the buffer is smaller.
  Operation& Works(uint64_t elements) {
    work_elements_ = elements;
    return *this;
  }

  // Sets the strides of the operand that was added last. Rows sets the rows of that operand.
  Operation& Strides(uint32_t blk, uint32_t rep) {
    Operand& last = event_.operand[event_.operands - 1];
    last.strided = true;
    last.blk_stride = static_cast<uint16_t>(blk);
    last.rep_stride = static_cast<uint16_t>(rep);
    return *this;
  }
  Operation& Rows(uint32_t rows, uint64_t row_bytes, uint64_t row_pitch) {
    Operand& last = event_.operand[event_.operands - 1];
    last.rows = rows;
    last.row_bytes = row_bytes;
    last.row_pitch = row_pitch;
    return *this;
  }

  // Adds an operand that consists of `count` pieces of `piece_bytes` bytes, at `offsets` bytes from `base`. The caller
  // has checked the pieces.
  Operation& Pieces(const char* role, const uint8_t* base, const uint32_t* offsets, uint32_t count,
                    uint64_t piece_bytes, Access access, uint32_t element_bytes) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; ++i) last = offsets[i] > last ? offsets[i] : last;
    return Pieces(role, base, offsets, count, last, piece_bytes, access, element_bytes);
  }
  // Does the same for a caller that knows the largest offset, `last`.
  Operation& Pieces(const char* role, const uint8_t* base, const uint32_t* offsets, uint32_t count, uint32_t last,
                    uint64_t piece_bytes, Access access, uint32_t element_bytes) {
    // The gathered or scattered operand has the type of the other tensor, which is added before it.
    const bool floats = event_.operands != 0 && event_.operand[0].floats;
    Add(role, base, count == 0 ? 0 : last + piece_bytes, Space::UB, access, element_bytes, floats);
    Rows(count, piece_bytes, 0);
    event_.operand[event_.operands - 1].pieces = offsets;
    has_pieces_ = true;
    return *this;
  }
  Operation& Flows(Computes how) {
    event_.flow = how.flow;
    event_.formula = how.formula;
    return *this;
  }

  Emission Emit(uint64_t lanes, uint32_t repeats, uint32_t element_bytes) {
    EmitEvent(Complete(lanes, repeats, element_bytes));
    return {};
  }

  // Emits the event of an instruction on the lanes of a Plan (gn_twin/tensor/lanes.h).
  template <class Plan>
  Emission Emit(const Plan& plan, uint32_t element_bytes) {
    EmitEvent(Complete(plan, element_bytes));
    return {};
  }

  // Completes the event and returns it without emitting it, for calls with a shorter key (gn_twin/tensor/emit.h).
  const Event& Complete(uint64_t lanes, uint32_t repeats, uint32_t element_bytes) {
    event_.lanes = lanes;
    event_.repeats = static_cast<uint16_t>(repeats);
    event_.element_bytes = static_cast<uint8_t>(element_bytes);
    return event_;
  }
  template <class Plan>
  const Event& Complete(const Plan& plan, uint32_t element_bytes) {
    event_.active = plan.Active();
    return Complete(plan.Lanes(), plan.repeats, element_bytes);
  }

  // Emits the completed event of a call whose form is one word. If the call's numbers do not fit in that word (form 0),
  // the event itself is its key.
  Emission EmitAs(const CallKey& key) {
    if (key.form == 0) return EmitEvent(event_), Emission();
    core_.Emit(event_);
    if (core_.cached != nullptr) core_.cached->Insert(core_, event_, key, {event_.active});
    return {};
  }

  void Warn(const char* id, std::initializer_list<Field> fields) { core_.Warn(id, event_.loc, {}, fields); }
  void Refuse(const char* id, std::initializer_list<Field> fields) { core_.Refuse(id, event_.loc, fields); }
  [[noreturn]] void Stop(const char* id, std::initializer_list<Field> fields) { core_.Stop(id, event_.loc, fields); }
  Core& core() { return core_; }

 private:
  template <class Describe>
  friend void EmitOperation(const char* op, Kind kind, Pipe pipe, Loc loc, Describe describe);
  Operation(const char* op, Kind kind, Pipe pipe, Loc loc) : core_(ThisCore()) {
    core_.At(loc);
    event_.op = op;
    event_.kind = kind;
    event_.pipe = pipe;
    event_.loc = loc;
  }

  // Emits an event. First looks for a vector instruction in the call cache, unless an operand consists of pieces.
  void EmitEvent(const Event& event) {
    if (core_.cached == nullptr || event.kind != Kind::Vector || event.operands == 0 || has_pieces_)
      return core_.Emit(event);
    EmitByEvent(core_, event);
  }
  GNT_NOINLINE static void EmitByEvent(Core& core, const Event& event) {
    const auto at = [&](uint32_t i) { return i < event.operands ? event.operand[i].at : nullptr; };
    core.LookForNan();
    core.nans.AtLeast(NanOrigins::Once);  // one of many functions, and perhaps one that divides
    CachedCall& call = core.cached->PlaceOf(event.loc.line, at(0), at(1), at(2));
    if (call.Is(event) && core.FlushedCache().Recheck(core, call)) return void(core.nans.call = &call);
    core.Emit(event);
    core.cached->Insert(core, event);
  }
  GNT_COLD void Flush() {
    core_.Emit(event_);
    event_.operands = 0;
  }
  // Adds an operand to the event. A high-level function may have more operands than an event holds. So the event is
  // emitted when it is full, and the next operands make a new event.
  void Add(const char* role, const uint8_t* at, uint64_t bytes, Space space, Access access, uint32_t element_bytes,
           bool floats) {
    if (event_.operands == sizeof(event_.operand) / sizeof(Operand)) [[unlikely]]
      Flush();
    if (at < core_.scratch.end && at + bytes > core_.scratch.begin && space == Space::UB) [[unlikely]]
      RefuseWorkBuffer(role);
    Operand& operand = event_.operand[event_.operands++] = Operand{};
    operand.role = role;
    operand.at = at;
    operand.bytes = bytes;
    operand.space = space;
    operand.access = access;
    operand.element_bytes = static_cast<uint8_t>(element_bytes);
    operand.floats = floats;
    operand.made = made_.form;
    made_ = {};
  }

  // Adds the parameters that make an operand of `bytes` bytes, where it should have fitted into `room`.
  GNT_COLD void AddNumbers(const char* role, uint64_t bytes, uint64_t room, FieldList& fields) const {
    // The last row of a DataCopyPad out of the Unified Buffer ends before its block does.
    const uint64_t end = made_.form == Extent::Form::Padded ? WholeBlockBytes(bytes) : bytes;
    if (made_.Bytes() == end && !fields.Has("cause")) fields.Add(Field::Fits("extent", role, made_, room));
  }

  GNT_COLD void RefuseWorkBuffer(const char* role) {
    Refuse("operands-overlap",
           {{"op", event_.op}, {"first", role}, {"second", "sharedTmpBuffer"}, {"cause", "work-buffer"}});
  }

  // Refuses an operand that does not fit. If the launch treats that mistake as a warning, an operation inside the
  // Unified Buffer continues, because it touches no other memory.
  GNT_COLD void RefuseOperand(const char* role, const RawTensor& tensor, uint64_t bytes, uint64_t room,
                              uint32_t align) {
    const uint8_t* const at = tensor.at;
    const uint16_t buffer = tensor.buffer;
    if (at == nullptr) Stop("ub-unallocated", {{"op", event_.op}, {"role", role}});
    const bool inside = core_.InUb(at) && bytes <= kUbBytes - core_.UbOffset(at);
    if (buffer >= core_.buffer_count) return RefuseStatic(role, at - core_.ub, bytes, room, align, inside);
    const Buffer& made = core_.buffers[buffer];
    const int64_t offset = at - (core_.ub + made.offset);
    const bool misaligned = (reinterpret_cast<uintptr_t>(at) & (align - 1)) != 0;
    core_.RequirePipe(made, event_.op, event_.loc);
    if (made.state != BufferState::Gone && core_.IsFree(buffer, tensor.number)) {
      NoteUseAfterFree(core_, event_.op, role, buffer, event_.loc);
      if (made.state != BufferState::Free) RefuseUsesAfterFree(core_, buffer, made.allocated);
    }
    const MadeTensor* const view = core_.MadeOf(tensor.number);
    if (bytes > room || !inside) {
      FieldList fields{{"op", event_.op},
                       {"role", role},
                       {"bytes", bytes},
                       {"room", room},
                       {"offset", offset},
                       {"buffer_bytes", made.bytes},
                       {"buffer_file", made.made.file},
                       {"buffer_line", made.made.line},
                       {"buffer_nth", made.nth}};
      if (core_.mask_in_counter.line == event_.loc.line && core_.mask_in_counter.file == event_.loc.file) {
        fields.Add({"cause", "counter-mode"});
        fields.Add({"mode_file", core_.counter_set.file});
        fields.Add({"mode_line", core_.counter_set.line});
        fields.Add({"mode_op", "SetMaskCount"});
      }
      if (work_elements_ != 0 && __builtin_strcmp(role, "sharedTmpBuffer") == 0) {
        fields.Add({"cause", "work-buffer-short"});
        fields.Add({"work_elements", work_elements_});
        fields.Add({"work_bytes", work_elements_ * tensor.element_bytes});
      }
      if (!fields.Has("cause") && view != nullptr)
        AddSwappedView(core_, *view, event_.loc, offset, tensor.element_bytes, bytes, fields);
      AddReinterpreted(core_, at, tensor.element_bytes, bytes, room, fields);
      if (offset > 0) AddOffsetInBytes(offset, bytes, tensor.element_bytes, made.bytes, fields);
      AddNumbers(role, bytes, room, fields);
      RefuseUnless(!inside, "ub-out-of-bounds", fields);
    } else if (misaligned) {
      FieldList fields{{"op", event_.op},
                       {"role", role},
                       {"offset", offset},
                       {"align", align},
                       {"over", offset % align},
                       {"buffer_file", made.made.file},
                       {"buffer_line", made.made.line},
                       {"buffer_nth", made.nth}};
      if (__builtin_strncmp(event_.op, "operator", 8) == 0 && offset % align == tensor.element_bytes)
        fields.Add({"cause", "operator-on-element"});
      if (view != nullptr) {
        AddSwappedView(core_, *view, event_.loc, offset, tensor.element_bytes, bytes, fields);
        AddViewInElements(core_, *view, event_.loc, offset, tensor.element_bytes, bytes, fields);
      }
      const PaddedRows::Copy* const rows = core_.padded_rows.CountedBy(static_cast<uint64_t>(offset));
      if (rows != nullptr && !fields.Has("cause")) {
        fields.Add({"cause", "rows-are-padded"});
        fields.Add({"row_bytes", rows->bytes});
        fields.Add({"pitch", rows->pitch});
        fields.Add({"copy_line", rows->loc.line});
        fields.Add({"copy_file", rows->loc.file});
      }
      core_.Refuse("ub-misaligned", event_.loc, fields);
    }
  }

  // Refuses a tensor that the kernel placed by address. It has no InitBuffer that a finding could name.
  GNT_COLD void RefuseStatic(const char* role, int64_t address, uint64_t bytes, uint64_t room, uint32_t align,
                             bool inside) {
    if (bytes > room || !inside) {
      FieldList fields{{"op", event_.op}, {"role", role}, {"bytes", bytes}, {"room", room}, {"address", address}};
      AddNumbers(role, bytes, room, fields);
      return RefuseUnless(!inside, "static-out-of-bounds", fields);
    }
    Refuse("static-misaligned",
           {{"op", event_.op}, {"role", role}, {"address", address}, {"align", align}, {"over", address % align}});
  }
  void RefuseUnless(bool ends, const char* id, const FieldList& fields) {
    ends ? core_.Stop(id, event_.loc, fields) : core_.Refuse(id, event_.loc, fields);
  }

  Core& core_;
  Event event_;
  bool has_pieces_ = false;
  Extent made_;  // of the next operand
  uint64_t work_elements_ = 0;
};

template <class Describe>
inline void EmitOperation(const char* op, Kind kind, Pipe pipe, Loc loc, Describe describe) {
  Operation operation(op, kind, pipe, loc);
  [[maybe_unused]] const Emission emitted = describe(operation);
}

}  // namespace gn_twin
