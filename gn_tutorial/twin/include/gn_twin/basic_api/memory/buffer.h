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
    return View<T>(0, static_cast<uint32_t>(gn_twin::ElementsIn<T>(bytes_)), loc, "Get");
  }
  template <class T>
  LocalTensor<T> Get(uint32_t elements, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return View<T>(0, elements, loc, "Get");
  }
  template <class T>
  LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t byte_offset, gn_twin::Loc loc = gn_twin::Loc::here()) {
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
  LocalTensor<T> View(uint32_t byte_offset, uint32_t elements, gn_twin::Loc loc, const char* op) const {
    gn_twin::Core& core = gn_twin::ThisCore();
    if (buffer_ == gn_twin::kNoBuffer) core.Stop("buffer-not-initialised", loc, {{"op", "TBuf::Get"}});
    const gn_twin::Buffer& buffer = core.buffers[buffer_];
    core.RequirePipe(buffer, "TBuf::Get", loc);
    uint32_t number = 0;
    if constexpr (gn_twin::kObserved) {
      const uint64_t end = byte_offset + gn_twin::BytesOf<T>(elements);
      const gn_twin::MadeTensor made{loc, op, 0, buffer_, elements, byte_offset, static_cast<uint32_t>(end)};
      if (byte_offset != 0) CompareViews<T>(core, made);
      number = core.NoteTensor(made);
      if (uint64_t{byte_offset} + gn_twin::BytesOf<T>(elements) > bytes_) {
        gn_twin::FieldList fields{{"op", op},
                                  {"bytes", gn_twin::BytesOf<T>(elements)},
                                  {"offset", byte_offset},
                                  {"buffer_bytes", bytes_},
                                  {"buffer_file", buffer.made.file},
                                  {"buffer_line", buffer.made.line},
                                  {"buffer_nth", buffer.nth}};
        if (byte_offset != 0) gn_twin::AddSwappedView(core, made, loc, byte_offset, gn_twin::BytesOf<T>(1), 0, fields);
        core.Stop("buffer-get-too-long", loc, fields);
      }
    }
    return LocalTensor<T>(reinterpret_cast<T*>(core.ub + buffer.offset + byte_offset), elements, pos, buffer_, number);
  }

  // Warns if the kernel probably gave the offset in elements: the view begins inside an earlier one and ends after it,
  // but would begin right after it if the offset counted elements.
  template <class T>
  static void CompareViews(const gn_twin::Core& core, const gn_twin::MadeTensor& made) {
    for (const gn_twin::MadeTensor& view : core.made_tensors) {
      if (view.buffer != made.buffer || view.end == view.offset) continue;
      if (made.offset > view.offset && made.offset < view.end && made.end > view.end &&
          gn_twin::BytesOf<T>(made.offset) == view.end)
        TellViewInElements(view, made);
    }
  }
  GNT_COLD static void TellViewInElements(const gn_twin::MadeTensor& other, const gn_twin::MadeTensor& made) {
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
