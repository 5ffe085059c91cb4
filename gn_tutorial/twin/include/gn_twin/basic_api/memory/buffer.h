// TBuf: local memory without a queue.
//
// Source: docs/zh/api, 资源管理/TBuf.
#pragma once
#include "gn_twin/basic_api/memory/queue_core.h"
#include "gn_twin/tensor/operand.h"

namespace AscendC {

// Local memory without a queue, for temporary results. It sets no flags, so the kernel must synchronise itself.
template <TPosition pos = TPosition::LCM>
class TBuf {
 public:
  // Returns the whole buffer, or its first `elements`.
  template <class T>
  LocalTensor<T> Get(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return View<T>(0, static_cast<uint32_t>(gn_twin::ElementsIn<T>(bytes_)), loc);
  }
  template <class T>
  LocalTensor<T> Get(uint32_t elements, gn_twin::Loc loc = gn_twin::Loc::here()) {
    if constexpr (gn_twin::kObserved) {
      if (buffer_ != gn_twin::kNoBuffer) NoteView<T>(elements, 0, loc);
    }
    return View<T>(0, elements, loc);
  }
  template <class T>
  LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t byte_offset, gn_twin::Loc loc = gn_twin::Loc::here()) {
    if constexpr (gn_twin::kObserved) {
      if (buffer_ != gn_twin::kNoBuffer) NoteView<T>(elements, byte_offset, loc);
    }
    return View<T>(byte_offset, elements, loc, "GetWithOffset");
  }
  uint32_t GetBufferLen() const { return bytes_; }

  // A TBuf has the operations of a queue, but they change no state.
  template <class T>
  LocalTensor<T> AllocTensor(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Get<T>(loc);
  }
  template <class T>
  void AllocTensor(LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    tensor = Get<T>(loc);
  }
  template <class T>
  LocalTensor<T> DeQue(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Get<T>(loc);
  }
  template <class T>
  void DeQue(LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    tensor = Get<T>(loc);
  }
  template <class T>
  void EnQue(const LocalTensor<T>&) {}
  template <class T>
  void FreeTensor(LocalTensor<T>&) {}

  // Not part of the Ascend C API. TPipe::InitBuffer calls it.
  void Init(uint16_t buffer, uint32_t bytes, gn_twin::Loc loc) {
    if (buffer_ != gn_twin::kNoBuffer)
      gn_twin::QueueCore::ReportIfInitialised(gn_twin::ThisCore(), buffer_, false, loc);
    buffer_ = buffer;
    bytes_ = bytes;
  }

 private:
  template <class T>
  LocalTensor<T> View(uint32_t byte_offset, uint32_t elements, gn_twin::Loc loc, const char* op = "Get") const {
    gn_twin::Core& core = gn_twin::ThisCore();
    if (buffer_ == gn_twin::kNoBuffer) core.Stop("buffer-not-initialised", loc, {{"op", "TBuf::Get"}});
    const gn_twin::Buffer& buffer = core.buffers[buffer_];
    core.RequirePipe(buffer, "TBuf::Get", loc);
    if constexpr (gn_twin::kObserved) {
      if (uint64_t{byte_offset} + gn_twin::BytesOf<T>(elements) > bytes_) {
        gn_twin::FieldList fields{{"op", op},
                                  {"bytes", gn_twin::BytesOf<T>(elements)},
                                  {"offset", byte_offset},
                                  {"buffer_bytes", bytes_},
                                  {"buffer_file", buffer.made.file},
                                  {"buffer_line", buffer.made.line},
                                  {"buffer_nth", buffer.nth}};
        if (byte_offset != 0)
          gn_twin::AddSwappedView(core, buffer_, loc, byte_offset, gn_twin::BytesOf<T>(1), 0, fields);
        if (byte_offset == 0) {
          gn_twin::UnitCause::OfBuffer(gn_twin::BytesOf<T>(elements), static_cast<uint32_t>(gn_twin::BytesOf<T>(1)),
                                       bytes_, fields);
        }
        core.Stop("buffer-get-too-long", loc, fields);
      }
    }
    return LocalTensor<T>(reinterpret_cast<T*>(core.ub + buffer.offset + byte_offset), elements, pos, buffer_);
  }

  // Records the view. Warns if the kernel probably gave the offset in elements: the view begins inside an earlier one
  // and ends after it, but would begin right after it if the offset counted elements.
  template <class T>
  void NoteView(uint32_t elements, uint32_t byte_offset, gn_twin::Loc loc) const {
    gn_twin::Core& core = gn_twin::ThisCore();
    const uint64_t end = byte_offset + gn_twin::BytesOf<T>(elements);
    const gn_twin::OffsetView made{loc, buffer_, elements, byte_offset, static_cast<uint32_t>(end)};
    for (const gn_twin::OffsetView& view : core.views) {
      if (view.buffer != buffer_) continue;
      if (view.loc.line == loc.line && view.loc.file == loc.file && view.offset == byte_offset && view.end == made.end)
        return;
      if (byte_offset > view.offset && byte_offset < view.end && end > view.end &&
          gn_twin::BytesOf<T>(byte_offset) == view.end)
        TellViewInElements(view, made);
    }
    core.views[core.next_view++ % gn_twin::Core::kOffsetViews] = made;
  }
  GNT_COLD static void TellViewInElements(const gn_twin::OffsetView& other, const gn_twin::OffsetView& made) {
    gn_twin::ThisCore().Warn("view-overlap", made.loc, other.loc,
                             {{"op", "GetWithOffset"},
                              {"offset", made.offset},
                              {"other_bytes", other.end - other.offset},
                              {"other_op", other.offset == 0 ? "Get" : "GetWithOffset"},
                              {"other_file", other.loc.file},
                              {"other_line", other.loc.line},
                              {"meant", other.end}});
  }

  uint16_t buffer_ = gn_twin::kNoBuffer;
  uint32_t bytes_ = 0;
};

}  // namespace AscendC
