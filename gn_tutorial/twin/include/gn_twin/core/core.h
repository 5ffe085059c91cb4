// The state of one AI Vector core while it runs one block: its Unified Buffer, mask register, buffers and event ids.
//
// Each block of each launch starts with a fresh Core, so nothing has to be reset.
#pragma once
#include <stdint.h>

#include "gn_twin/base/abi.h"
#include "gn_twin/base/config.h"
#include "gn_twin/base/float16.h"
#include "gn_twin/base/float_flags.h"
#include "gn_twin/events/event.h"
#include "gn_twin/events/cached_call.h"
#include "gn_twin/base/loc.h"
#include "gn_twin/core/core_state.h"
#include "gn_twin/core/nan_origins.h"
#include "gn_twin/core/padded_rows.h"
#include "gn_twin/core/stop.h"
#include "gn_twin/events/observer.h"
#include "gn_twin/events/field_list.h"
#include "gn_twin/events/report.h"
#include "gn_twin/events/scalar_accesses.h"

namespace gn_twin {

class Scheduler;
class AsyncCopies;
class ShapeTable;
struct Core;
bool BlockInTurn(Core& core);  // core/scheduler.h
void TraceNan(Core& core);     // tensor/nan_origins.h, as the next two
void TraceNumber(Core& core);
void TraceScalar(Core& core, const char* op, Loc loc, float value, bool stored);

struct Core {
  GNT_COLD Core() { buffers[0] = Buffer{}; }  // runs once a block: not worth unrolled code for hundreds of members

  GntJob* job = nullptr;
  Scheduler* scheduler = nullptr;        // runs this block and the others
  const Observers* observers = nullptr;  // null in bare libraries
  CachedCalls* cached = nullptr;         // null if observers need every event, as for a trace
  AsyncCopies* delayed = nullptr;        // the copies that nothing has waited for, if the launch delays them
  Findings* findings = nullptr;
  uint8_t* ub = nullptr;  // kUbBytes, aligned to 512
  uint32_t block = 0;
  MaskRegister mask;
  ScalarLog scalars;     // accesses that the observers have not seen yet
  void* pipe = nullptr;  // the live TPipe
  uint16_t pipes = 0;    // number of TPipes so far; TPipe::Reset counts as a new one
  uint16_t beside = 0;   // number of the older TPipe that was live when `pipe` was made; 0: none

  // Buffers of every TPipe of this block, in the order of creation. Unused entries are not cleared (clearing all of
  // them took a twentieth of a bare launch), except the first, to which a queue without buffers refers.
  static constexpr uint16_t kCapacity = 4 * kMaxBuffers;
  union {
    Buffer buffers[kCapacity];
  };
  uint16_t buffer_count = 0;

  // A use of a tensor after FreeTensor. The record is kept until the tensor's buffer is allocated again, because until
  // then the use does no harm.
  struct FreedUse {
    const char* op = nullptr;
    const char* role = nullptr;
    Loc loc;
    Loc freed;
    uint16_t buffer = kNoBuffer;
  };
  static constexpr uint32_t kFreedUses = 8;
  FreedUse freed_uses[kFreedUses];
  uint32_t freed_use_count = 0;

  // The latest instructions that were called with 0 repeats, and so did nothing.
  static constexpr uint32_t kNothingDone = 4;
  NothingDone nothing_done[kNothingDone];
  uint32_t next_nothing_done = 0;
  void NoteNothingDone(const NothingDone& one) { nothing_done[next_nothing_done++ % kNothingDone] = one; }

  // The latest tensors that were made, each at the place of its number; the number is that of the last one.
  static constexpr uint32_t kMadeTensors = kObserved ? 32 : 1;
  MadeTensor made_tensors[kMadeTensors];
  uint32_t made_count = 0;
  // Returns the number of a tensor that is made now.
  uint32_t NoteTensor(const MadeTensor& made) {
    if constexpr (!kObserved) return 0;
    MadeTensor& kept = made_tensors[++made_count % kMadeTensors];
    kept = made;
    return kept.number = made_count;
  }
  // Returns the tensor with this number, of which the low 16 bits are enough; null if it was made too long ago.
  const MadeTensor* MadeOf(uint32_t number) const {
    const MadeTensor& made = made_tensors[number % kMadeTensors];
    return number != 0 && static_cast<uint16_t>(made.number) == static_cast<uint16_t>(number) ? &made : nullptr;
  }

  // The latest tensors that ReinterpretCast made from tensors with smaller elements.
  static constexpr uint32_t kWiderViews = 8;
  WiderView wider_views[kWiderViews];
  uint32_t next_wider = 0;
  void NoteWider(const WiderView& made) {
    for (const WiderView& one : wider_views)
      if (one.at == made.at && one.element_bytes == made.element_bytes && one.was_bytes == made.was_bytes) return;
    wider_views[next_wider++ % kWiderViews] = made;
  }

  PaddedRows padded_rows;

  // The latest results that are pairs of a value and its index.
  static constexpr uint32_t kPairResults = 4;
  PairResults pair_results[kPairResults];
  uint32_t next_pairs = 0;
  void NotePairs(const PairResults& made) {
    for (PairResults& one : pair_results)
      if (one.at == made.at) return void(one = made);
    pair_results[next_pairs++ % kPairResults] = made;
  }

  PlainPointers pointers;

  Compared compared;

  // The work buffer of the running high-level function (tensor/scratch.h).
  struct WorkBuffer {
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
  };
  WorkBuffer scratch;

  // The event ids of each event, one bit per id. `reserved`: taken by AllocEventID or a queue. `raised`: the flag is
  // set but not yet waited for; `raised_at` is the place of the SetFlag.
  static constexpr int kEvents = static_cast<int>(AscendC::HardEvent::MAX);
  uint8_t reserved[kEvents] = {};
  uint8_t raised[kEvents] = {};
  uint8_t raised_again[kEvents] = {};  // set twice before a wait, in a launch that continued after this mistake
  Loc raised_at[kEvents][kEventIds];
  Loc awaited_at[kEvents][kEventIds];  // the last wait

  // The latest ids that FetchEventID and AllocEventID returned.
  static constexpr uint32_t kGivenIds = 8;
  GivenId given_ids[kGivenIds];
  uint32_t next_given = 0;
  void NoteId(const char* op, Loc loc, AscendC::HardEvent event, int id) {
    if constexpr (kObserved) given_ids[next_given++ % kGivenIds] = {op, loc, event, static_cast<int8_t>(id)};
  }

  // The latest lines with an instruction that sets no mask (isSetMask false), each with the earlier instruction whose
  // mask is used there.
  static constexpr uint32_t kMasksFrom = 8;
  MaskFrom masks_from[kMasksFrom];
  MaskLost mask_lost;
  Loc counter_set;      // the last SetMaskCount
  Loc mask_in_counter;  // the last instruction that got a mask in counter mode
  // Notes the present mask as lost if no instruction has used it. Called before the instruction at `by` overwrites the
  // mask.
  void NoteMaskLost(Loc by) {
    if (kObserved && mask.unused) [[unlikely]]
      mask_lost = {mask.set, by};
  }
  // Returns the record of an instruction in this line that used the mask of an earlier instruction; null if there is
  // none.
  const MaskFrom* MaskOf(Loc line) const {
    for (const MaskFrom& one : masks_from)
      if (one.used.line == line.line && one.used.file == line.file && line.line != 0) return &one;
    return nullptr;
  }

  // Atomic stores (gn_twin/basic_api/sync/atomic.h): operation and element type.
  uint8_t atomic = 0;
  uint8_t atomic_type = 0;
  Loc atomic_set;
  const char* atomic_op = "";

  // The type that the kernel declared (basic_api/sync/kernel_type.h).
  KernelType kernel_type;

  // DataCopyPad's fill register (SetPadValue) and the scale of Cast int32 -> half (SetDeqScale).
  uint64_t pad_value = 0;
  bool pad_value_set = false;
  float deq_scale = 1.0f;
  bool deq_scale_set = false;

  ShapeTable* shapes = nullptr;  // the shapes that SetShapeInfo set
  NanOrigins nans;

  // How often the kernel asked queues for their fill level since a tensor last entered or left a queue.
  static constexpr uint32_t kMostAsks = 100000;  // more than any loop over tiles has iterations
  uint32_t queue_asks = 0;

  int8_t saturate = -1;  // as the kernel set CTRL[48]: 1 saturate, 0 do not; -1: the launch's options decide
  PollWatch polls;
  uint32_t looks = 0;            // number of calls that refresh the scalar unit's view of global memory
  int32_t soft_syncs = 0;        // calls of the software SyncAll
  uint8_t cross_flags[16] = {};  // for each id, the CrossCoreSetFlag calls still without a CrossCoreWaitFlag

  // The special registers of the last reduction (GetReduceRepeat...Spr, GetAccVal).
  float reduce_sum = 0.0f;
  uint32_t reduce_sum_bits = 0;  // the bits of reduce_sum in the element type
  float reduce_extreme = 0.0f;
  uint32_t reduce_index = 0;
  uint16_t merged[4] = {0, 0, 0, 0};  // elements that the last MrgSort took from each queue
  uint64_t compare_mask[2] = {0, 0};

  // Updates the block's current place. A bare launch keeps it in the core, not in the job, because its blocks may run
  // on several threads.
  Loc here{"", 0};
  void At(Loc loc) {
    if constexpr (kObserved) {
      job->here_file = loc.file;
      job->here_line = loc.line;
    } else {
      here = loc;
    }
  }
  Loc Here() const {
    if constexpr (!kObserved) return here;
    return {job->here_file != nullptr ? job->here_file : "", job->here_line};
  }
  // Looks at the results of the last instruction, if they may be NaN or infinite. Called before an operation that may
  // change its operands.
  [[gnu::always_inline]] void LookForNan() {
    if (nans.look != NanOrigins::Never) [[unlikely]]
      LookOnce();
  }
  GNT_NOINLINE void LookOnce() {
    if (nans.look == NanOrigins::Results || MayBeNotFinite()) [[unlikely]]
      TraceNan(*this);
    if (nans.look == NanOrigins::Once) nans.look = NanOrigins::Never;
  }
  void Emit(const Event& event) {
    LookForNan();
    if (event.kind == Kind::Vector) {
      nans.Remember(event);
      nans.AtLeast(NanOrigins::Once);
    }
    if (!scalars.Empty()) FlushScalars();
    observers->OnEvent(*this, event);
  }
  // Passes on the scalar accesses that came before, then returns `cached`, which must not be null.
  [[gnu::always_inline]] CachedCalls& FlushedCache() {
    if (!scalars.Empty()) [[unlikely]]
      FlushScalars();
    return *cached;
  }
  // Passes the logged scalar accesses to the observers and ends the quiet ranges. Called before any other event, and at
  // the end of the block.
  GNT_COLD void FlushScalars() {
    FlushStores();
    scalars.open = false;
    scalars.RoomFor(ScalarLog::kFirst);
    uint64_t loaded = 0;
    for (ScalarLog::Line& line : scalars.lines) {
      loaded += line.loaded;
      line.loads = {};
      line.loaded = 0;
    }
    if (loaded != 0) observers->OnLoads(*this, loaded);
    FlushLog();
  }
  void FlushLog() {
    if (scalars.next == scalars.all) return;
    At(scalars.next[-1].Place());
    observers->OnScalars(*this, scalars.all, static_cast<uint32_t>(scalars.next - scalars.all));
    scalars.next = scalars.all;
    scalars.in_gm = scalars.stored = false;
  }
  // Passes on the log when it is full, and asks the observers for quiet ranges at the lines of the last accesses.
  GNT_COLD void FlushFullLog() {
    const ScalarAccess* last = scalars.next - 1;
    FlushLog();
    if (scalars.singly) return;
    scalars.RoomFor(ScalarLog::kRoom);
    for (uint32_t i = 0; i < 2 * ScalarLog::kLines; ++i, --last) {
      ScalarLog::Line& line = scalars.lines[last->line % ScalarLog::kLines];
      if (last->space != Space::UB || last->pointer ||
          (last->access == Access::Read ? line.loads.begin : line.stored_to) != nullptr)
        continue;
      const QuietBytes quiet = observers->QuietAt(*this, *last);
      if (quiet.bytes == 0) continue;
      scalars.open = true;
      if (last->access == Access::Read) {
        line.loads = quiet;
      } else {
        scalars.storing = true;
        line.store = *last;
        line.store.at = line.stored_to = last->at + last->bytes;
      }
    }
  }
  // Ends the runs of stores and passes them on, because the next event may read their data.
  GNT_COLD void FlushStores() {
    for (ScalarLog::Line& line : scalars.lines) {
      if (line.stored_to != line.store.at) observers->OnStores(*this, line.store, line.stored_to);
      line.store = {};
      line.stored_to = nullptr;
    }
    scalars.storing = false;
  }
  // Reports the noted uses of freed buffers. Called before a stop, which such a use may have caused, and at the end of
  // the block.
  GNT_COLD void TellFreedUses() {
    const uint32_t count = freed_use_count;
    freed_use_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const FreedUse& use = freed_uses[i];
      Warn("ub-use-of-freed", use.loc, use.freed, FieldsOf(use));
    }
  }
  GNT_COLD FieldList FieldsOf(const FreedUse& use) const {
    const Buffer& made = buffers[use.buffer];
    return {{"op", use.op},
            {"role", use.role},
            {"buffer_file", made.made.file},
            {"buffer_line", made.made.line},
            {"buffer_nth", made.nth},
            {"freed_file", use.freed.file},
            {"freed_line", use.freed.line}};
  }
  // Ends the launch with one diagnostic. Stop, Fault, Warn and Refuse take the facts in braces, which costs the caller
  // least, or as a FieldList.
  [[noreturn]] GNT_COLD void Stop(const char* id, Loc loc, std::initializer_list<Field> fields) {
    Stop(id, loc, FieldList(fields));
  }
  [[noreturn]] GNT_COLD void Stop(const char* id, Loc loc, const FieldList& fields) {
    TellFreedUses();
    if (InTurn()) ReportWriter(*job).Write(id, "error", loc, block, fields.Data(), fields.Count());
    StopBlock();
  }
  // Waits until all earlier blocks have ended or are waiting themselves. Returns false if the launch was stopped
  // meanwhile. Call this before an action whose order other blocks can observe. In an observed launch, blocks run one
  // at a time, so this returns true at once.
  bool InTurn() {
    if constexpr (kObserved) return true;
    return BlockInTurn(*this);
  }
  // Reports an error and continues; the launch fails at its end. The launch's options may make the error a warning. A
  // finding is reported once per id, place and `other`, the second place of a finding that has one.
  GNT_COLD void Fault(const char* id, Loc loc, Loc other, std::initializer_list<Field> fields) {
    Fault(id, loc, other, FieldList(fields));
  }
  GNT_COLD void Fault(const char* id, Loc loc, Loc other, const FieldList& fields) {
    Find(id, IsError(*job, id, true), loc, other, fields);
  }
  // Reports a warning. The launch does not fail, unless the launch's options make the warning an error.
  GNT_COLD void Warn(const char* id, Loc loc, Loc other, std::initializer_list<Field> fields) {
    Warn(id, loc, other, FieldList(fields));
  }
  GNT_COLD void Warn(const char* id, Loc loc, Loc other, const FieldList& fields) {
    Find(id, IsError(*job, id, false), loc, other, fields);
  }
  // Ends the launch like Stop, unless the launch's options make the finding a warning (TwinOptions). Then the launch
  // continues as on the device.
  GNT_COLD void Refuse(const char* id, Loc loc, std::initializer_list<Field> fields) {
    Refuse(id, loc, FieldList(fields));
  }
  GNT_COLD void Refuse(const char* id, Loc loc, const FieldList& fields) {
    if (IsError(*job, id, true)) Stop(id, loc, fields);
    Find(id, false, loc, {}, fields);
  }
  // Reports a scalar that goes into memory but was never set, or comes from unwritten memory. stored: it goes into
  // global memory.
  template <class T>
  void NoteScalarValue(const char* op, Loc loc, const T& value, bool stored = false) {
    if constexpr (!kObserved) return;
    if (IsWild(value) || IsUnwritten(value)) [[unlikely]]
      return TellScalarValue(IsWild(value) ? "value-never-set" : "value-unwritten", op, loc);
    if constexpr (kIsFloat<T>) {
      if (!(static_cast<float>(value) - static_cast<float>(value) == 0.0f)) [[unlikely]]
        TraceScalar(*this, op, loc, static_cast<float>(value), stored);
    }
  }
  // Does the same for a scalar that an instruction takes, and keeps it for a finding about NaN.
  template <class T>
  void NoteNumber(const char* op, Loc loc, const T& value) {
    if constexpr (!kObserved) return;
    if (IsWild(value) || IsUnwritten(value)) [[unlikely]]
      return TellScalarValue(IsWild(value) ? "value-never-set" : "value-unwritten", op, loc);
    if constexpr (kIsFloat<T>) {
      LookForNan();
      nans.number_op = op;
      nans.number_line = loc.line;
      nans.number = static_cast<float>(value);
      if (!FiniteFloat(nans.number)) [[unlikely]]
        TraceNumber(*this);
    }
  }
  // Whether this launch has one of these findings.
  GNT_COLD bool HasFound(std::initializer_list<const char*> ids) const {
    for (const char* id : ids)
      if (findings != nullptr && findings->Has(id)) return true;
    return false;
  }
  // Reports a scalar without a value, unless a read of such memory was reported before: then the scalar probably comes
  // from the read which that finding names.
  GNT_COLD void TellScalarValue(const char* id, const char* op, Loc loc) {
    FlushScalars();
    if (HasFound({"gm-read-before-write", "gm-out-of-bounds"})) return;
    Fault(id, loc, {}, {{"op", op}});
  }
  bool InUb(const void* at) const {
    const uint8_t* byte = static_cast<const uint8_t*>(at);
    return byte >= ub && byte < ub + kUbBytes;
  }
  // Returns the distance of an address from the start of the Unified Buffer, in bytes.
  uint64_t UbOffset(const uint8_t* at) const { return static_cast<uint64_t>(at - ub); }
  GNT_COLD void Find(const char* id, bool error, Loc loc, Loc other, const FieldList& fields) {
    if (findings == nullptr || !findings->First(id, loc, other)) return;
    if (error) findings->CountError();
    ReportWriter(*job).Write(id, error ? "error" : "warning", loc, block, fields.Data(), fields.Count());
  }
  // Whether a tensor must not be used, because its buffer was given back; kNoBuffer never is. AllocTensor may have
  // handed the buffer out again since.
  bool IsFree(uint16_t buffer, uint32_t tensor) const {
    return buffer < buffer_count && tensor < buffers[buffer].alive;
  }
  // Refuses an operation on a buffer whose TPipe no longer exists.
  void RequirePipe(const Buffer& buffer, const char* op, Loc loc) {
    if (buffer.state == BufferState::Gone) [[unlikely]]
      Refuse("pipe-gone", loc, {{"op", op}, {"buffer_file", buffer.made.file}, {"buffer_line", buffer.made.line}});
  }
};

inline QuietBytes Observers::QuietAt(Core& core, const ScalarAccess& like) const {
  QuietBytes quiet{core.ub, kUbBytes};
  if (!core.InUb(like.at)) return {};
  for (uint32_t i = 0; i < count_ && quiet.bytes != 0; ++i) all_[i]->Quiet(core, like, quiet);
  return quiet;
}

// The distance from an array within which an address belongs to it, if neither another array nor null is nearer.
// Isolated launches and samples place arrays so far apart (base/far_addresses.h) that an address with any offset up to
// this one belongs to the array that the offset was added to. In WebAssembly the page leaves less room between arrays,
// and in a launch in Python's process arrays lie where Python has them: there, the nearest array is a guess.
inline constexpr uint64_t kReach = sizeof(void*) == 8 ? uint64_t{1} << 39 : uint64_t{1} << 26;

// Returns the tensor argument that a kernel's pointer came from: the one that contains the address, else the one to
// which it belongs, because the kernel may have added any offset; null if there is none. Of several that contain the
// address, because the launch was given overlapping arrays, returns the one that ends last.
GNT_NOINLINE inline const GntArg* ArgumentOf(const Core& core, const void* pointer) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(pointer);
  const GntArg* found = nullptr;
  uint64_t least = at < kReach ? at : kReach;
  for (uint32_t i = 0; i < core.job->arg_count; ++i) {
    const GntArg& arg = core.job->args[i];
    if (arg.kind != GNT_TENSOR || arg.data == nullptr) continue;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(arg.data), end = begin + arg.bytes;
    // One more past the end, so that an address where one array ends and another begins belongs to the latter.
    const uint64_t distance = at < begin ? begin - at : at < end ? 0 : at - end + 1;
    const bool ends_later = found != nullptr && distance == least && arg.data + arg.bytes > found->data + found->bytes;
    if (distance >= least && !ends_later) continue;
    least = distance;
    found = &arg;
  }
  return found;
}

// Returns the tensor argument that contains an address, or null.
inline const GntArg* ArgumentAt(const Core& core, const void* address) {
  const GntArg* const arg = ArgumentOf(core, address);
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  if (arg == nullptr || at < reinterpret_cast<uintptr_t>(arg->data)) return nullptr;
  return at - reinterpret_cast<uintptr_t>(arg->data) < arg->bytes ? arg : nullptr;
}

inline const char* NameOf(const GntArg* arg) { return arg != nullptr && arg->name != nullptr ? arg->name : "?"; }

// Whether half and bfloat16_t results that do not fit become the largest finite number.
inline bool Saturates(const Core& core) {
  return core.saturate >= 0 ? core.saturate != 0 : core.job->options.half_overflow != 0;
}

inline constinit thread_local Core* current_core = nullptr;
// Returns the core of the block that runs on this thread. The attribute gnu::const lets a loop of scalar accesses look
// up its core once, not once an element. The attribute is correct although blocks take turns on a thread, because the
// result never changes during the code of one block. launch.h starts a block in a call that is not inlined, so that no
// function sees the core change.
[[gnu::const, gnu::noinline]] inline Core* CoreOfThread() { return current_core; }
inline Core& ThisCore() { return *CoreOfThread(); }
// Sets the core of this thread. Not inlined, because a block may continue on another thread, and a compiler looks up
// the address of a thread-local variable only once in a function.
[[gnu::noinline]] inline void EnterCore(Core* core) {
  current_core = core;
  asm volatile("" ::: "memory");
}

}  // namespace gn_twin
