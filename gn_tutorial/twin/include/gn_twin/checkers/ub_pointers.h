// The checker of writes through pointers of GetPhyAddr: it reports those that land in another buffer.
//
// The twin cannot see accesses through a pointer. So, from the first pointer on, the checker compares the Unified
// Buffer at each event with its contents at the event before. If bytes have changed that no instruction wrote, the
// kernel has written them itself. A kernel may write only into the buffers to which it has pointers. With delayed
// copies the checker does nothing.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/shadow/per_core.h"

namespace gn_twin {

// The contents of one block's Unified Buffer at the last event.
class UbBefore {
 public:
  bool Allocate() {
    bytes_ = new (std::nothrow) uint8_t[kUbBytes];
    return bytes_ != nullptr;
  }
  ~UbBefore() { delete[] bytes_; }
  void Restart() {
    active = false;
    next_ = 0;
    for (Range& range : written_) range = {};
  }
  void Keep(const Core& core) { __builtin_memcpy(bytes_, core.ub, kUbBytes); }
  // Notes an operand that an instruction writes. Instructions compute after their event, some only after several
  // further events, so the bytes of the last few operands may still change. The range is rounded up to whole blocks,
  // because copies write whole blocks.
  void Written(uint64_t begin, uint64_t bytes) {
    if (begin >= kUbBytes) return;
    const uint64_t end = (begin + bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    written_[next_] = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end < kUbBytes ? end : kUbBytes)};
    next_ = (next_ + 1) % kRanges;
  }
  void Allow(const Core& core, uint32_t begin, uint32_t end) {
    __builtin_memcpy(bytes_ + begin, core.ub + begin, end - begin);
  }
  void AllowWritten(const Core& core) {
    for (const Range& range : written_) Allow(core, range.begin, range.end);
  }
  // Returns the first byte from `from` on that has changed; kUbBytes if none has.
  uint32_t FirstChange(const Core& core, uint32_t from) const {
    for (uint32_t at = from / kStep * kStep; at < kUbBytes; at += kStep) {
      if (__builtin_memcmp(bytes_ + at, core.ub + at, kStep) == 0) continue;
      for (uint32_t i = at < from ? from : at; i < at + kStep; ++i)
        if (bytes_[i] != core.ub[i]) return i;
    }
    return kUbBytes;
  }

  bool active = false;  // whether an event has come since the kernel got its first pointer
  Loc last;             // the place of the last event

 private:
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  static constexpr uint32_t kRanges = 16, kStep = 1024;
  static_assert(kUbBytes % kStep == 0);
  uint8_t* bytes_ = nullptr;
  Range written_[kRanges];
  uint32_t next_ = 0;
};

class UbPointerChecker final : public Observer {
 public:
  void OnBlockBegin(Core& core) override { before_.Begin(core); }
  void OnBlockEnd(Core& core) override {
    if (UbBefore* const before = ActiveOf(core)) Look(core, *before, {});
    before_.End(core);
  }
  void OnEvent(Core& core, const Event& event) override {
    if (core.ub_pointer_count == 0 || core.delayed != nullptr) return;  // a delayed copy may write at any time
    UbBefore* const before = before_.Of(core);
    if (before == nullptr) return;
    if (before->active) Look(core, *before, event.loc);
    before->active = true;
    before->last = event.loc;
    before->Keep(core);
    for (uint32_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space == Space::UB && operand.access != Access::Read && core.InUb(operand.at))
        before->Written(core.UbOffset(operand.at), operand.bytes);
    }
  }
  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    UbBefore* const before = ActiveOf(core);
    for (uint32_t i = 0; before != nullptr && i < count; ++i) {
      if (accesses[i].access == Access::Read || !core.InUb(accesses[i].at)) continue;
      before->Written(core.UbOffset(accesses[i].at), accesses[i].bytes);
      before->AllowWritten(core);
    }
  }
  void OnStores(Core& core, const ScalarAccess& first, const uint8_t* end) override {
    UbBefore* const before = ActiveOf(core);
    if (before != nullptr && core.InUb(first.at))
      before->Allow(core, static_cast<uint32_t>(core.UbOffset(first.at)), static_cast<uint32_t>(core.UbOffset(end)));
  }

 private:
  UbBefore* ActiveOf(const Core& core) const {
    UbBefore* const before = before_.Of(core);
    return before != nullptr && before->active ? before : nullptr;
  }

  // Reports the first changed byte in a buffer without a pointer into it. next: the place of the event after the
  // change.
  void Look(Core& core, UbBefore& before, Loc next) {
    before.AllowWritten(core);
    for (uint32_t at = before.FirstChange(core, 0); at < kUbBytes; at = before.FirstChange(core, at)) {
      const Buffer* const buffer = BufferAt(core, at);
      const uint32_t end = buffer != nullptr ? buffer->offset + buffer->bytes : at + 1;
      if (buffer != nullptr && !HasPointer(core, *buffer)) {
        Report(core, *buffer, at, before.last, next);
        return;
      }
      at = end;
    }
  }

  // Returns the buffer that contains this byte, or null; if there are several, the last one made.
  static const Buffer* BufferAt(const Core& core, uint32_t at) {
    for (uint16_t i = core.buffer_count; i-- > 0;) {
      const Buffer& one = core.buffers[i];
      if (at >= one.offset && at < one.offset + one.bytes) return &one;
    }
    return nullptr;
  }
  static bool HasPointer(const Core& core, const Buffer& buffer) {
    for (uint32_t i = 0; i < core.ub_pointer_count; ++i) {
      const Buffer& one = core.buffers[core.ub_pointers[i].buffer];
      if (one.offset < buffer.offset + buffer.bytes && buffer.offset < one.offset + one.bytes) return true;
    }
    return false;
  }

  // Reports the pointer into the nearest buffer before the byte. If there is none, reports the kernel's first pointer.
  static void Report(Core& core, const Buffer& hit, uint32_t at, Loc last, Loc next) {
    const UbPointer* nearest = &core.ub_pointers[0];
    for (uint32_t i = 0; i < core.ub_pointer_count; ++i) {
      const uint32_t offset = core.buffers[core.ub_pointers[i].buffer].offset;
      const uint32_t best = core.buffers[nearest->buffer].offset;
      if (offset < at && (best > at || offset > best)) nearest = &core.ub_pointers[i];
    }
    const Buffer& own = core.buffers[nearest->buffer];
    core.Fault("ub-pointer-outside", nearest->loc, hit.made,
               {{"byte", (at - hit.offset) & ~3u},  // rounded down: the first bytes of a changed number may be equal
                {"own_bytes", own.bytes},
                {"buffer_file", hit.made.file},
                {"buffer_line", hit.made.line},
                {"buffer_nth", hit.nth},
                {"when", next.line != 0 ? "before the operation of line" : "after that of line"},
                {"when_line", next.line != 0 ? next.line : last.line}});
  }

  PerCore<UbBefore> before_;
};

}  // namespace gn_twin
