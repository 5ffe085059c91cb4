// The checker of uninitialised memory in the Unified Buffer: values read before they are written, results overwritten
// before they are read, and memory that the scalar unit uses after FreeTensor.
//
// A byte holds a value from its first write until AllocTensor hands its buffer out again: then the contents are stale,
// not zero (docs/zh/api, 资源管理/TQue/AllocTensor). Instructions often compute lanes that nobody looks at, at the tail of
// an array. So a missing value is followed through the instructions. It is reported where it is stored to global memory
// or read by the scalar unit.
#pragma once
#include "gn_twin/checkers/uninitialized.h"
#include "gn_twin/checkers/memory_report.h"
#include "gn_twin/events/footprint.h"
#include "gn_twin/shadow/per_core.h"

namespace gn_twin {

class MemoryChecker final : public Observer {
 public:
  explicit MemoryChecker(GlobalMemoryChecker& stored) : lacking_(stored) {}

  void OnBlockBegin(Core& core) override { shadows_.Begin(core); }
  void OnBlockEnd(Core& core) override {
    if (const UbState* const shadow = shadows_.Of(core); shadow != nullptr && shadow->stored)
      ReportFreed(core, *shadow);
    shadows_.End(core);
  }

  Kinds Wants() const override {
    return KindsOf(Kind::Vector, Kind::Copy, Kind::Words, Kind::InitBuffer, Kind::Alloc, Kind::Free);
  }
  void OnEvent(Core& core, const Event& event) override {
    UbState* shadow = shadows_.Of(core);
    if (shadow == nullptr) return;
    if (event.kind == Kind::Vector || event.kind == Kind::Copy || event.kind == Kind::Words) {
      shadow->stored |= event.kind == Kind::Copy && event.pipe == Pipe::MTE3;
      if (!Read(core, *shadow, event)) return Follow(core, *shadow, event);
      return Write(core, *shadow, event);
    }
    const uint64_t at = core.UbOffset(event.operand[0].at);
    OnBuffer(core, *shadow, event.kind, at, at + event.operand[0].bytes);
  }

  UbState* ShadowOf(const Core& core) const { return shadows_.Of(core); }
  const Overwritten* LastOverwritten(const Core& core) const {
    const UbState* const shadow = shadows_.Of(core);
    return shadow != nullptr ? &shadow->overwritten : nullptr;
  }
  // Handles InitBuffer, Alloc or Free of the bytes [at, end).
  GNT_NOINLINE static void OnBuffer(Core& core, UbState& shadow, Kind kind, uint64_t at, uint64_t end) {
    if (kind == Kind::Free) {
      if (shadow.Waits(BlockSpan::OfBytes(at, end))) [[unlikely]]
        LookFreed(core, shadow, at / kBlockBytes, end / kBlockBytes);
      shadow.freed.SetAll(at / kBlockBytes, end / kBlockBytes);
      shadow.any_freed = true;
      return;
    }
    shadow.freed.ClearAll(at / kBlockBytes, end / kBlockBytes);
    if (kind == Kind::Alloc) shadow.GrowStale(at / kBlockBytes, end / kBlockBytes);
    shadow.writes.Renew(at / kBlockBytes);
    shadow.bytes.Clear(at, end - at);
    shadow.Forget(at, end);
  }
  // Whether a fast copy is a load, or all bytes that it stores have values. Marks the bytes that it stores as read.
  static bool CanCopy(UbState& shadow, const FastCopy& copy, LocalRange range, const BlockSpan& blocks) {
    return copy.IsLoad() || HasSource(shadow, range, blocks);
  }
  static void OnCopy(Core& core, UbState& shadow, const FastCopy& copy, LocalRange range, const BlockSpan& blocks) {
    if (!copy.IsLoad()) return void(shadow.stored = true);
    Fill(core, shadow, range.begin / kBlockBytes, blocks, "dst",
         {copy.loc, copy.op, ~static_cast<uint32_t>(copy.row_bytes), copy.tensor,
          static_cast<uint16_t>((range.end - range.begin) / kBlockBytes), true});
  }
  // Notes the facts that follow from the event of a cached call alone: whether its results fill whole blocks.
  static void Learn(const Event& event, CachedCall& call) {
    const LocalRange result = call.part[0].range;
    const bool whole = (result.begin | result.end) % kBlockBytes == 0 && OneRun(event, event.operand[0]) != 0;
    call.replaces = whole && call.parts > 1;
    call.fills = whole && call.parts == 1;
  }
  // Marks the results of a repeated call as written. If one of its sources lacks values, returns false instead.
  static bool Recheck(Core& core, UbState& shadow, const CachedCall& call) {
    return call.gaps ? RecheckGaps(core, shadow, call) : RecheckParts<false>(core, shadow, call);
  }

  // Loops read along one tensor and write along another. So successive stores are handled as one run. A 32-byte block
  // in which all bytes have values is checked once for successive loads from it.
  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    UbState* shadow = shadows_.Of(core);
    if (shadow == nullptr) return;
    StoreRun run;
    uint64_t whole = kUbBytes;
    for (const ScalarAccess* access = accesses; access != accesses + count; ++access) {
      const uint64_t at = core.UbOffset(access->at);
      if (at >= kUbBytes) continue;
      if (access->access == Access::Read) {
        if (at / kBlockBytes == whole) continue;
        run.TakeIn(core, *shadow);
        if (Load(core, *shadow, *access, at)) whole = at / kBlockBytes;
      } else if (at == run.end && access->line == run.first->line) {
        run.end += access->bytes;
      } else {
        run.TakeIn(core, *shadow);
        run = {access, at, at + access->bytes};
      }
    }
    run.TakeIn(core, *shadow);
  }

  void Quiet(Core& core, const ScalarAccess& like, QuietBytes& quiet) override {
    UbState* shadow = shadows_.Of(core);
    if (shadow == nullptr || like.access != Access::Read) return;
    const uint64_t first = core.UbOffset(like.at) / kBlockBytes;
    quiet = {core.ub + first * kBlockBytes, (shadow->ReadOn(first) - first) * kBlockBytes};
  }

  void OnStores(Core& core, const ScalarAccess& first, const uint8_t* end) override {
    UbState* shadow = shadows_.Of(core);
    if (shadow == nullptr) return;
    StoreRun run{&first, core.UbOffset(first.at), core.UbOffset(end)};
    run.TakeIn(core, *shadow);
  }

 private:
  // Stores from one source line to successive bytes. A use of operator() counts as a store, because the kernel may
  // write to the reference that it returns.
  struct StoreRun {
    const ScalarAccess* first = nullptr;
    uint64_t begin = kUbBytes;  // no store has this offset
    uint64_t end = kUbBytes;

    void TakeIn(Core& core, UbState& shadow) {
      if (begin == end) return;
      const uint64_t block = shadow.FirstFreed(begin, end);
      if (block != UbState::kBlocks) ReportUsedAfterFree(core, *first, block * kBlockBytes);
      shadow.Write(begin, end - begin);
      begin = end;
    }
  };

  // Checks a load; returns whether its whole 32-byte block holds values and is not freed.
  static bool Load(Core& core, UbState& shadow, const ScalarAccess& access, uint64_t at) {
    const uint64_t block = at / kBlockBytes;
    const bool freed = shadow.FirstFreed(at, at + access.bytes) != UbState::kBlocks;
    if (freed) ReportUsedAfterFree(core, access, at);
    shadow.unread.Clear(block);
    if (shadow.bytes.Full().Has(block)) return !freed;
    if (!shadow.bytes.HasAll(at, access.bytes)) {
      const uint64_t missing = shadow.bytes.FirstMissing(at, access.bytes);
      ReportMissing(core,
                    MissingAt(core, shadow,
                              shadow.OriginOf(missing, access.Place(), access.Op(), "the tensor", 0, 0, access.bytes),
                              access.Place()));
      shadow.bytes.Set(at, access.bytes);  // reported once
    }
    return false;
  }

  // Marks the sources as read; returns whether all of them have values.
  static bool Read(const Core& core, UbState& shadow, const Event& event) {
    bool complete = true;
    for (uint8_t i = 0; i < event.operands; ++i) {
      if (event.operand[i].access != Access::Read) continue;
      const Operand& operand = event.operand[i];
      if (operand.space != Space::UB) continue;
      if (operand.pieces != nullptr && operand.row_bytes <= kBlockBytes && operand.bytes != 0) {
        const uint64_t at = core.UbOffset(operand.at);
        if (at + operand.bytes <= kUbBytes &&
            shadow.ReadPieces(at, operand.bytes, operand.pieces, operand.rows, operand.row_bytes))
          continue;
      }
      ForBytes(event, operand, [&](const uint8_t* run, uint64_t bytes) {
        const uint64_t at = core.UbOffset(run);
        if (at + bytes <= kUbBytes) complete &= shadow.Read(at, bytes);
      });
    }
    return complete;
  }

  // Marks the results as written. If exactly the same whole blocks are written again before anybody has read them,
  // reports the earlier results of an instruction or a copy as lost. A constant that fills memory is no loss, and an
  // instruction that overwrites its own results in a loop usually measures time.
  static void Write(Core& core, UbState& shadow, const Event& event) {
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.access == Access::Read || operand.space != Space::UB) continue;
      const uint64_t whole = OneRun(event, operand);
      const uint64_t at = core.UbOffset(operand.at);
      shadow.writes.Note(event, operand, at);
      if (whole == 0 || ((at | whole) % kBlockBytes) != 0 || operand.access == Access::ReadWrite ||
          event.operands == 1 || at + whole > kUbBytes) {
        ForUbRuns(core, event, operand, [&](uint64_t run, uint64_t bytes) { shadow.Write(run, bytes); });
        continue;
      }
      const uint64_t first = at / kBlockBytes;
      Fill(core, shadow, first, {first, first + whole / kBlockBytes}, operand.role,
           {event.loc, event.op, 0, operand.tensor, static_cast<uint16_t>(whole / kBlockBytes),
            event.kind == Kind::Copy});
    }
  }
  GNT_NOINLINE static bool ReadPieces(UbState& shadow, const GatherRanges& pieces) {
    const LocalRange range = pieces.range;
    return shadow.ReadPieces(range.begin, range.end - range.begin, pieces.offsets, pieces.count, pieces.bytes);
  }
  template <bool kGaps>
  [[gnu::always_inline]] static bool RecheckParts(Core& core, UbState& shadow, const CachedCall& call) {
    if (call.Gathers() && !ReadPieces(shadow, call.pieces)) [[unlikely]]
      return false;
    for (uint32_t i = 1; i < call.parts; ++i)
      if (call.part[i].access == Access::Read && !ReadPart<kGaps>(shadow, call.part[i])) [[unlikely]]
        return false;
    const CachedCall::Part& result = call.part[0];
    const uint32_t first = result.range.begin / kBlockBytes;
    if (kGaps && result.touches != Touches::Whole) {
      shadow.WriteMasked(result.masks);
    } else if (call.replaces && shadow.writers[first].call == call.number) [[likely]] {
      shadow.Renew(first, result.blocks);
    } else if (call.fills) {
      shadow.WriteBlocks(result.blocks);
    } else {
      TakeIn(core, shadow, call);
    }
    if (call.scratch) [[unlikely]]
      TakeInScratch(shadow, call);
    return true;
  }
  GNT_NOINLINE static bool RecheckGaps(Core& core, UbState& shadow, const CachedCall& call) {
    return RecheckParts<true>(core, shadow, call);
  }
  // Marks the bytes as read; returns whether all of them have values.
  static bool HasSource(UbState& shadow, LocalRange range, const BlockSpan& blocks) {
    return shadow.ReadBlocks(blocks) || HasAll(shadow, range);
  }
  // Marks a source of a cached call as read; returns whether all of it has values.
  template <bool kGaps>
  [[gnu::always_inline]] static bool ReadPart(UbState& shadow, const CachedCall::Part& part) {
    if (kGaps && part.touches != Touches::Whole) return shadow.ReadMasked(part.masks);
    return HasSource(shadow, part.range, part.blocks);
  }
  GNT_NOINLINE static bool HasAll(const UbState& shadow, LocalRange range) {
    return shadow.bytes.HasAll(range.begin, range.end - range.begin);
  }
  // Marks the results of a cached call as written, if they are not whole blocks or another call wrote there last.
  GNT_NOINLINE static void TakeIn(Core& core, UbState& shadow, const CachedCall& call) {
    const uint32_t begin = call.part[0].range.begin;
    const uint32_t size = call.part[0].Bytes();
    if (!call.replaces) return shadow.Write(begin, size);
    Fill(core, shadow, begin / kBlockBytes, call.part[0].blocks, call.role,
         {{call.key.file, call.key.line},
          call.key.op,
          call.number,
          call.tensor,
          static_cast<uint16_t>(size / kBlockBytes),
          false});
  }
  GNT_NOINLINE static void TakeInScratch(UbState& shadow, const CachedCall& call) {
    for (uint32_t i = 1; i < call.parts; ++i) {
      const CachedCall::Part& part = call.part[i];
      if (part.access == Access::ReadWrite) shadow.Write(part.range.begin, part.Bytes());
    }
  }
  static void Fill(Core& core, UbState& shadow, uint64_t first, const BlockSpan& blocks, const char* role,
                   const Writer& now) {
    Writer& writer = shadow.writers[first];
    if (shadow.Waits(blocks)) [[unlikely]]
      NoteOverwritten(core, shadow, first, role, now);
    const bool unread = shadow.Replace(first, blocks, now.blocks);
    const bool again = writer.loc.line == now.loc.line && writer.loc.file == now.loc.file;
    if (unread && (writer.load || !again) && !(again && OthersWereRead(shadow, writer, first))) [[unlikely]]
      ReportLost(core, now, role, writer, first * kBlockBytes, uint64_t{writer.blocks} * kBlockBytes);
    const bool seen = again && (!unread || writer.seen);
    writer = now;
    writer.seen = seen;
  }
  // Whether data that an earlier load in the same line brought, to this or another place, was read: a loop may read
  // only some of its tiles.
  GNT_COLD static bool OthersWereRead(const UbState& shadow, const Writer& writer, uint64_t first) {
    if (writer.seen) return true;
    for (uint64_t block = 0; block < UbState::kBlocks; ++block) {
      const Writer& one = shadow.writers[block];
      if (block != first && one.load && one.loc.line == writer.loc.line && one.loc.file == writer.loc.file &&
          (one.seen || !shadow.unread.Has(block)))
        return true;
    }
    return false;
  }
  // Notes that new results are about to overwrite old ones that nobody has read. Reports the old ones as lost if the
  // new ones cover only one end of an entirely unread write, because then an offset is wrong. New results in the middle
  // of the write may be right: they may replace a tail.
  GNT_COLD static void NoteOverwritten(Core& core, UbState& shadow, uint64_t first, const char* role,
                                       const Writer& now) {
    const uint64_t end = first + now.blocks;
    uint64_t block = first;
    while (block < end && !shadow.unread.Has(block)) ++block;
    const uint64_t begin = block < end ? shadow.UnreadWrite(block) : UbState::kBlocks;
    if (begin == UbState::kBlocks) return;
    const Writer& writer = shadow.writers[begin];
    shadow.overwritten = {writer.loc, now.loc};
    const uint64_t stop = begin + writer.blocks;
    if (!(begin < first && stop < end) && !(begin > first && stop > end)) return;
    const bool same_line = writer.loc.line == now.loc.line && writer.loc.file == now.loc.file;
    if ((same_line && !writer.load) || !shadow.IsUntouched(begin)) return;
    const uint64_t lost_to = stop < end ? stop : end;
    ReportLost(core, now, role, writer, block * kBlockBytes, (lost_to - block) * kBlockBytes);
  }

  // Notes results that FreeTensor gives back although nobody has read any of them. They count as lost if this block of
  // the launch copies anything to global memory. Loads do not count, because a loop may read only some of its tiles.
  // Nor does less than half of a tensor, because a caller may want only some outputs.
  GNT_COLD static void LookFreed(const Core& core, UbState& shadow, uint64_t first, uint64_t end) {
    for (uint64_t block = first; block < end; ++block) {
      if (shadow.UnreadWrite(block) != block) continue;
      const Writer& writer = shadow.writers[block];
      if (writer.load || writer.seen || block + writer.blocks > end || !shadow.IsUntouched(block)) continue;
      const Buffer* const buffer = BufferAt(core, block * kBlockBytes);
      if (buffer == nullptr || 2 * uint64_t{writer.blocks} < end - first) continue;
      if (shadow.freed_unread_count == UbState::kFreedUnread) return;
      shadow.freed_unread[shadow.freed_unread_count++] = {writer, core.Here(), *buffer};
    }
  }

  // Handles an instruction with a source that lacks values.
  GNT_COLD void Follow(Core& core, UbState& shadow, const Event& event) {
    lacking_.Follow(core, shadow, event, [&] { Write(core, shadow, event); });
  }

  PerCore<UbState> shadows_;
  UninitializedResults lacking_;
};

}  // namespace gn_twin
