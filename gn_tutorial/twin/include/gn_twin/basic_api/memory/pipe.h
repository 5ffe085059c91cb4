// TPipe: divides the Unified Buffer into buffers and assigns event ids.
//
// Source: docs/zh/api, 资源管理/TPipe (InitBuffer, Reset, Destroy, AllocEventID ...).
#pragma once
#include "gn_twin/basic_api/memory/buffer.h"
#include "gn_twin/basic_api/memory/queue.h"
#include "gn_twin/basic_api/sync/sync.h"

namespace AscendC {

class TPipe {
 public:
  TPipe() { Init(); }
  TPipe(const TPipe&) = delete;
  // Takes over another pipe's buffers, for a class that keeps its own copy of a pipe. The buffers stay valid. If
  // `other` was the live pipe, this one is now.
  TPipe& operator=(const TPipe& other) {
    used_ = other.used_;
    count_ = other.count_;
    gn_twin::Core& core = gn_twin::ThisCore();
    if (core.pipe == &other) core.pipe = this;
    return *this;
  }
  ~TPipe() { Destroy(gn_twin::ThisCore().Here()); }  // a destructor call has no source line

  void Init() {
    gn_twin::Core& core = gn_twin::ThisCore();
    core.mask = gn_twin::MaskRegister{};
    core.atomic = core.atomic_type = 0;
    core.beside = core.pipe != nullptr && core.pipe != this ? core.pipes : 0;
    core.pipe = this;
    ++core.pipes;
  }

  // Makes `num` buffers of `len` bytes each, rounded up to a multiple of 32. Two buffers make a queue double buffered.
  template <TPosition src, TPosition dst, int32_t depth, auto mask>
  bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len,
                  gn_twin::Loc loc = gn_twin::Loc::here()) {
    const uint16_t first = Cut(num, len, gn_twin::BufferState::Free, loc, gn_twin::ForwardEvent(src, dst));
    que.Queue().Init(gn_twin::ThisCore(), first, num, loc);
    return true;
  }
  template <TPosition pos>
  bool InitBuffer(TBuf<pos>& buf, uint32_t len, gn_twin::Loc loc = gn_twin::Loc::here()) {
    const uint16_t index = Cut(1, len, gn_twin::BufferState::Occupied, loc);
    buf.Init(index, gn_twin::ThisCore().buffers[index].bytes, loc);
    return true;
  }
  // The form of 2024, with three arguments. Kernels of that time still use it; 9.x refuses it. Only one buffer makes
  // sense.
  template <TPosition pos>
  bool InitBuffer(TBuf<pos>& buf, uint8_t num, uint32_t len, gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::ThisCore().Warn("init-buffer-form", loc, {}, {{"num", num}, {"len", len}, {"bytes", num * len}});
    return InitBuffer(buf, num * len, loc);
  }

  template <HardEvent evt>
  TEventID AllocEventID(gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::Core& core = gn_twin::ThisCore();
    const TEventID id = gn_twin::ReserveId(core, evt, "AllocEventID", loc);
    core.NoteId("AllocEventID", loc, evt, static_cast<int>(id));
    return id;
  }
  template <HardEvent evt>
  void ReleaseEventID(TEventID id, gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::Core& core = gn_twin::ThisCore();
    if (id < 0 || id >= static_cast<TEventID>(gn_twin::kEventIds)) {
      core.Stop("event-id-range", loc, {{"op", "ReleaseEventID"}, {"id", id}, {"ids", gn_twin::kEventIds}});
    }
    if ((core.reserved[static_cast<int>(evt)] & gn_twin::Bit(id)) == 0)
      core.Warn("event-id-not-reserved", loc, {}, {{"event", gn_twin::NameOf(evt)}, {"id", id}});
    gn_twin::ReleaseId(core, evt, id);
  }
  // Returns the lowest free id without reserving it.
  TEventID FetchEventID(HardEvent evt, gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::Core& core = gn_twin::ThisCore();
    const int id = gn_twin::LowestFreeId(core, evt);
    if (id < 0) {
      core.Stop("event-ids-exhausted", loc,
                {{"op", "FetchEventID"}, {"event", gn_twin::NameOf(evt)}, {"ids", gn_twin::kEventIds}});
    }
    core.NoteId("FetchEventID", loc, evt, id);
    return static_cast<TEventID>(id);
  }
  template <HardEvent evt>
  TEventID FetchEventID(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return FetchEventID(evt, loc);
  }

  // Not part of the Ascend C API. Returns the bytes that InitBuffer has allocated, from the start of the Unified
  // Buffer.
  uint64_t Used() const { return used_; }

  // Waits until freed tensors are no longer in use, then forgets all buffers and event ids. So the next InitBuffer
  // starts at address 0 again.
  void Reset(gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::Core& core = gn_twin::ThisCore();
    gn_twin::AwaitFreeTensors(core, loc);
    core.mask = gn_twin::MaskRegister{};
    for (uint8_t& ids : core.reserved) ids = 0;
    for (uint8_t& ids : core.raised) ids = 0;
    for (uint8_t& ids : core.raised_again) ids = 0;
    for (uint16_t i = 0; i < core.buffer_count; ++i) {
      core.buffers[i].free_id = core.buffers[i].enque_id = -1;
      core.buffers[i].of_queue = false;
    }
    ++core.pipes;
    used_ = 0;
    count_ = 0;
  }
  // Waits for all pipes. The next TPipe's buffers start at address 0 again. Does nothing unless this pipe is the
  // live one.
  void Destroy(gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::Core& core = gn_twin::ThisCore();
    if (core.pipe != this) return;
    gn_twin::AwaitFreeTensors(core, loc);
    gn_twin::Barrier("Destroy", PIPE_ALL, loc);
    for (uint16_t i = 0; i < core.buffer_count; ++i) {
      gn_twin::Buffer& buffer = core.buffers[i];
      if (buffer.pipe != core.pipes || buffer.state == gn_twin::BufferState::Gone) continue;
      buffer.left = buffer.state;
      buffer.state = gn_twin::BufferState::Gone;
      buffer.alive = ~0u;
    }
    core.pipe = nullptr;
  }

 private:
  // Makes the buffers and returns the number of the first. `forward`: the flag that EnQue sets, for the buffers of a
  // queue.
  uint16_t Cut(uint8_t num, uint32_t len, gn_twin::BufferState state, gn_twin::Loc loc,
               HardEvent forward = HardEvent::MAX) {
    gn_twin::Core& core = gn_twin::ThisCore();
    core.At(loc);
    if (core.pipe != this) core.Fault("pipe-not-live", loc, {}, {});
    if (num == 0) core.Stop("init-buffer-empty", loc, {{"num", num}, {"len", len}});
    if (len == 0) core.Refuse("init-buffer-zero", loc, {{"num", num}});
    const uint64_t bytes = (uint64_t{len} + gn_twin::kBlockBytes - 1) / gn_twin::kBlockBytes * gn_twin::kBlockBytes;
    if (used_ + num * bytes > gn_twin::kUbBytes) {
      char map[1024];
      MapBuffers(core, map, sizeof(map));
      core.Stop("ub-overflow", loc,
                {{"map", map},
                 {"num", num},
                 {"len", len},
                 {"bytes", bytes * num},
                 {"used", used_},
                 {"room", gn_twin::kUbBytes - used_},
                 {"ub", gn_twin::kUbBytes}});
    }
    if (count_ + num > gn_twin::kMaxBuffers || core.buffer_count + num > gn_twin::Core::kCapacity) {
      core.Stop("too-many-buffers", loc, {{"num", num}, {"made", count_}, {"limit", gn_twin::kMaxBuffers}});
    }
    const uint16_t first = core.buffer_count;
    const uint16_t nth = CallsBefore(core, loc);
    for (uint8_t i = 0; i < num; ++i) {
      gn_twin::Buffer& buffer = core.buffers[core.buffer_count++];
      buffer = gn_twin::Buffer{};
      buffer.offset = static_cast<uint32_t>(used_);
      buffer.bytes = static_cast<uint32_t>(bytes);
      buffer.state = state;
      buffer.of_queue = state == gn_twin::BufferState::Free;
      buffer.pipe = core.pipes;
      buffer.nth = nth;
      buffer.forward = forward;
      buffer.made = buffer.changed = loc;
      used_ += bytes;
    }
    count_ += num;
    uint64_t& high = core.job->tally.ub_high_water;
    if (used_ > high) high = used_;
    gn_twin::EmitPlace(core, gn_twin::Kind::InitBuffer, "InitBuffer", core.ub + core.buffers[first].offset,
                       uint64_t{num} * core.buffers[first].bytes, gn_twin::Space::UB, loc);
    return first;
  }

  // Returns how often InitBuffer was called from this source line before.
  static uint16_t CallsBefore(const gn_twin::Core& core, gn_twin::Loc line) {
    for (uint16_t i = core.buffer_count; i > 0; --i) {
      const gn_twin::Buffer& buffer = core.buffers[i - 1];
      if (buffer.made.line == line.line && buffer.made.file == line.file) return static_cast<uint16_t>(buffer.nth + 1);
    }
    return 0;
  }

  // Writes the buffers of the Unified Buffer as text: "2 x 4096 (line 12), 1 x 65536 (line 13)". The text is cut off if
  // it gets too long.
  GNT_COLD static void MapBuffers(const gn_twin::Core& core, char* text, uint32_t room) {
    uint32_t at = 0;
    const auto put = [&](const char* part) {
      for (; *part != '\0' && at + 1 < room; ++part) text[at++] = *part;
    };
    const auto number = [&](uint32_t value) {
      char digits[12];
      int length = 11;
      digits[11] = '\0';
      do {
        digits[--length] = static_cast<char>('0' + value % 10);
        value /= 10;
      } while (value != 0);
      put(digits + length);
    };
    for (uint16_t i = 0; i < core.buffer_count;) {
      const gn_twin::Buffer& first = core.buffers[i];
      uint32_t count = 0;
      while (i < core.buffer_count && core.buffers[i].made.line == first.made.line &&
             core.buffers[i].bytes == first.bytes && core.buffers[i].pipe == first.pipe) {
        ++count;
        ++i;
      }
      if (first.pipe != core.pipes) continue;  // of a pipe that was destroyed
      if (at > 0) put(", ");
      number(count);
      put(" x ");
      number(first.bytes);
      put(" (line ");
      number(first.made.line);
      put(")");
    }
    if (at == 0) put("nothing");
    text[at] = '\0';
  }

  uint64_t used_ = 0;   // bytes handed out
  uint32_t count_ = 0;  // buffers made
};

}  // namespace AscendC

// Both spellings, GetTPipePtr() and AscendC::GetTPipePtr(), are in use.
inline AscendC::TPipe* GetTPipePtr() { return static_cast<AscendC::TPipe*>(gn_twin::ThisCore().pipe); }
namespace AscendC {
using ::GetTPipePtr;
}
