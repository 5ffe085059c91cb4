// The checker of uninitialised global memory: outputs that the launch did not write, and outputs or workspace read
// before they are written.
//
// It keeps one bit for every 32 bytes of each output and workspace, for the first kMost arrays. Where only some of the
// 32 bytes were written, it keeps one bit a byte. All blocks of the launch share these bits.
#pragma once
#include "gn_twin/causes/unwritten_output.h"
#include "gn_twin/checkers/input_reads.h"
#include "gn_twin/checkers/stored_tails.h"
#include "gn_twin/core/core.h"
#include "gn_twin/shadow/row_set.h"
#include "gn_twin/shadow/watched_output.h"

namespace gn_twin {

class GlobalMemoryChecker final : public Observer {
 public:
  explicit GlobalMemoryChecker(const GntJob& job) : inputs_(job), several_(job.blocks > 1) {
    for (uint32_t i = 0; i < job.arg_count; ++i) {
      const GntArg& arg = job.args[i];
      // For INOUT arrays the checker only notes which bytes were stored to, which matters with several blocks.
      const bool watched_role = arg.role == GNT_OUT || arg.role == GNT_WORKSPACE || (several_ && arg.role == GNT_INOUT);
      if (arg.kind != GNT_TENSOR || arg.bytes == 0 || !watched_role) continue;
      if (count_ == kMost) return;
      Watched* watched = new (std::nothrow) Watched{&arg};
      if (watched == nullptr) return;
      if (!watched->bytes.Allocate(arg.bytes)) {
        delete watched;
        return;
      }
      all_[count_++] = watched;
    }
  }
  ~GlobalMemoryChecker() override {
    for (uint32_t i = 0; i < count_; ++i) delete all_[i];
  }
  GlobalMemoryChecker(const GlobalMemoryChecker&) = delete;
  GlobalMemoryChecker& operator=(const GlobalMemoryChecker&) = delete;

  Kinds Wants() const override { return KindsOf(Kind::Copy, Kind::Words); }
  void OnEvent(Core& core, const Event& event) override {
    if (count_ == 0 && !inputs_.Any() && !tails_.Any()) return;
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space != Space::GM) continue;
      if (operand.bytes == 0 && operand.access != Access::Read) [[unlikely]]
        NoteEmpty(operand.at, event);
      const Access atomic = core.atomic != 0 ? Access::ReadWrite : Access::Write;  // an atomic store also reads
      OnCopy(core, RowSet::Of(operand), operand.access == Access::Read ? Access::Read : atomic, event.loc, event.op,
             operand.element_bytes);
    }
  }
  // Handles a copy from or to these rows of global memory.
  void OnCopy(Core& core, const RowSet& rows, Access access, Loc loc, const char* op, uint32_t element_bytes) {
    again_ = false;
    if (tails_.Any() && access != Access::Read) tails_.OnStore(core, rows);
    Watched* const watched = Find(reinterpret_cast<const uint8_t*>(rows.at));
    if (watched == nullptr) {
      if (access == Access::Read) inputs_.Note(reinterpret_cast<const uint8_t*>(rows.at), rows.End() - rows.at);
      return;
    }
    const bool reads = access != Access::Write && watched->arg->role != GNT_INOUT;
    const uint8_t* const end = watched->arg->data + watched->arg->bytes;
    rows.ForEach([&](uintptr_t row, uint64_t bytes) {
      const uint8_t* const at = reinterpret_cast<const uint8_t*>(row);
      if (bytes > static_cast<uint64_t>(end - at))
        bytes = static_cast<uint64_t>(end - at);  // the copy was rounded up to blocks
      if (reads) Read(core, *watched, at, bytes, loc, op, element_bytes, access == Access::ReadWrite);
      if (access == Access::Read) return;
      if (several_ && !watched->bytes.HasNone(static_cast<uint64_t>(at - watched->arg->data), bytes)) again_ = true;
      Write(*watched, core.block, at, bytes, loc, op, element_bytes, access == Access::ReadWrite);
    });
  }
  // Keeps the tail of a DataCopy, the `bytes` bytes without values at its end. The tail is reported if it is still in
  // global memory when the launch ends. Returns false if the tail cannot be kept.
  GNT_COLD bool KeepTail(const Core& core, const Event& event, uint64_t bytes, const MissingValue& missing) {
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space != Space::GM || operand.access == Access::Read || core.atomic != 0) continue;
      const uint8_t* const end = operand.at + (operand.row_bytes != 0 ? operand.row_bytes : operand.bytes);
      return operand.rows <= 1 && tails_.Add(core, end - bytes, bytes, missing);
    }
    return false;
  }
  // Whether the last copy stored to bytes that were stored to before; always false in a launch of one block.
  bool StoredAgain() const { return again_; }

  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    if ((count_ == 0 && !inputs_.Any() && !tails_.Any()) || !core.scalars.in_gm) return;
    for (uint32_t i = 0; i < count; ++i) {
      const ScalarAccess& access = accesses[i];
      if (access.space != Space::GM) continue;
      if (tails_.Any() && access.access != Access::Read) tails_.Overwrite(core, access.at, access.at + access.bytes);
      Watched* watched = Find(access.at);
      if (watched == nullptr) {
        if (access.access == Access::Read) inputs_.Note(access.at, access.bytes);
        continue;
      }
      if (access.access == Access::Read) {
        if (watched->arg->role == GNT_INOUT) continue;
        Read(core, *watched, access.at, access.bytes, access.Place(), access.Op(), access.bytes);
      } else {
        Write(*watched, core.block, access.at, access.bytes, access.Place(), access.Op(), access.bytes);
      }
    }
  }

  void OnLaunchEnd(Core& core) override {
    tails_.Report(core);
    inputs_.Report(core);
    for (uint32_t i = 0; i < count_; ++i) {
      const Watched& watched = *all_[i];
      if (watched.arg->role == GNT_OUT && !watched.bytes.HasAll(0, watched.arg->bytes)) Unwritten(core, watched);
    }
  }

 private:
  using Watched = WatchedOutput;

  Watched* Find(const uint8_t* at) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (at >= all_[i]->arg->data && at < all_[i]->arg->data + all_[i]->arg->bytes) return all_[i];
    }
    return nullptr;
  }

  GNT_COLD void NoteEmpty(const uint8_t* at, const Event& event) {
    if (Watched* const watched = Find(at); watched != nullptr) {
      watched->empty = event.loc;
      watched->empty_op = event.op;
    }
  }
  static void Write(Watched& watched, uint32_t block, const uint8_t* at, uint64_t bytes, Loc loc, const char* op,
                    uint32_t element_bytes, bool atomic = false) {
    watched.bytes.Set(static_cast<uint64_t>(at - watched.arg->data), bytes);
    if (at == watched.arg->data) {
      if (watched.starts++ != 0 && watched.start_block == block) watched.again = true;
      watched.start_block = block;
    }
    watched.atomic |= atomic;
    ++watched.stores;
    watched.stored += bytes;
    if (bytes > watched.longest) watched.longest = bytes;
    watched.last = loc;
    watched.op = op;
    watched.element_bytes = element_bytes;
  }

  static void Read(Core& core, Watched& watched, const uint8_t* at, uint64_t bytes, Loc loc, const char* op,
                   uint32_t element_bytes, bool atomic = false) {
    const uint64_t offset = static_cast<uint64_t>(at - watched.arg->data);
    if (watched.bytes.HasAll(offset, bytes)) return;
    const uint64_t missing = watched.bytes.FirstMissing(offset, bytes);
    const bool untouched = Untouched(watched, missing);
    watched.bytes.Set(offset, bytes);  // reported once
    if (!untouched) return;
    FieldList fields{{"op", op},
                     {"argument", Name(watched)},
                     {"index", missing / element_bytes},
                     {"offset", missing},
                     {"element_bytes", element_bytes}};
    if (atomic) {
      fields.Add({"cause", "atomic-on"});
      fields.Add({"set_op", core.atomic_op});
      fields.Add({"set_file", core.atomic_set.file});
      fields.Add({"set_line", core.atomic_set.line});
    }
    core.Fault("gm-read-before-write", loc, {}, fields);
  }

  // Returns the end of the element that a byte lies in.
  static uint64_t ElementEnd(const Watched& watched, uint64_t at) {
    const uint64_t bytes = watched.arg->element_bytes;
    const uint64_t end = bytes == 0 ? at + 1 : (at / bytes + 1) * bytes;
    return end < watched.arg->bytes ? end : watched.arg->bytes;
  }
  // Whether the element at byte `at` counts as unwritten: its bytes without an observed write all still hold the
  // launcher's poison (gn_tutorial/runtime/launch_types.py). Writes through a kernel's pointer are not observed. The
  // whole element is compared, because a single written byte may equal the poison. False if its size is unknown.
  static bool Untouched(const Watched& watched, uint64_t at) {
    const uint64_t bytes = watched.arg->element_bytes;
    if (bytes == 0) return false;
    for (uint64_t i = at / bytes * bytes, end = ElementEnd(watched, at); i < end; ++i) {
      const uint8_t poison = static_cast<uint8_t>(watched.arg->poison >> i % 8 * 8);
      if (watched.arg->data[i] != poison && !watched.bytes.HasAll(i, 1)) return false;
    }
    return true;
  }

  // A written element of one or two bytes may equal the poison by chance. If the kernel wrote parts of the array
  // through a pointer, such elements count as unwritten only in runs of at least four bytes.
  static constexpr uint64_t kNoChance = 4;

  GNT_COLD static void Unwritten(Core& core, const Watched& watched) {
    uint64_t missing = 0, long_missing = 0;
    uint64_t first = watched.arg->bytes, long_first = first;
    uint64_t run = 0;  // length of the run of unwritten bytes that ends at run_end
    uint64_t run_end = 0;
    bool by_pointer = false;
    for (uint64_t at = 0; at < watched.arg->bytes; at = ElementEnd(watched, at)) {
      at = watched.bytes.FirstMissing(at, watched.arg->bytes - at);
      if (at == watched.arg->bytes) break;
      if (!Untouched(watched, at)) {
        by_pointer = true;
        continue;
      }
      const uint64_t bytes = ElementEnd(watched, at) - at;
      run = at == run_end ? run + bytes : bytes;
      run_end = at + bytes;
      if (missing == 0) first = at;
      missing += bytes;
      if (run < kNoChance) continue;
      if (long_missing == 0) long_first = run_end - run;
      long_missing += run - bytes < kNoChance ? run : bytes;
    }
    if (by_pointer) {
      missing = long_missing;
      first = long_first;
    }
    if (missing == 0) return;
    const uint32_t element = watched.ElementBytes();
    FieldList fields{{"argument", Name(watched)},
                     {"elements", (missing + element - 1) / element},
                     {"of", watched.arg->bytes / element},
                     {"first", first / element},
                     {"bytes", missing},
                     {"element_bytes", element},
                     {"blocks", core.job->blocks},
                     {"stores", watched.stores},
                     {"longest", watched.longest / element}};
    AddUnwrittenOutput(core, watched, missing, first, fields);
    // Stores of one length, which would fill the array if it counted elements, or had more bits.
    const uint64_t bytes = watched.arg->bytes, stored = bytes - missing, each = watched.longest;
    const Extent one{Extent::Form::Bytes, element, 1, each};
    const uint64_t meant = watched.stores == 0 ? 0 : bytes / watched.stores;
    if (!fields.Has("cause") && __builtin_strcmp(watched.op, "DataCopyPad") == 0 && watched.stored == stored &&
        watched.stores * each == stored && (meant == each * element || (meant - each) % (1 << 16) == 0))
      fields.Add(Field::Needs("extent", "dst", one, meant));
    core.Warn("gm-not-written", watched.last.line != 0 ? watched.last : watched.empty, {}, fields);
  }
  static const char* Name(const Watched& watched) { return watched.arg->name != nullptr ? watched.arg->name : "?"; }

  static constexpr uint32_t kMost = 32;
  Watched* all_[kMost] = {};
  uint32_t count_ = 0;
  StoredTails tails_;
  InputReads inputs_;
  bool several_;        // the launch has several blocks
  bool again_ = false;  // the result of StoredAgain
};

}  // namespace gn_twin
