// TQue and TQueBind: buffers that travel from one pipe to the next in order.
//
// Source: docs/zh/api, 资源管理/TQue, TQueBind.
#pragma once
#include "gn_twin/basic_api/memory/queue_core.h"

namespace AscendC {

// A queue whose buffers go from position `src` to position `dst`. `depth`: how many tensors may be enqueued at once.
template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  static constexpr TPosition kFrom = src;
  static constexpr TPosition kTo = dst;

  template <class T>
  LocalTensor<T> AllocTensor(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return View<T>(queue_.Alloc(gn_twin::ThisCore(), loc));
  }
  template <class T>
  void AllocTensor(LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    tensor = View<T>(queue_.Alloc(gn_twin::ThisCore(), loc));
  }

  template <class T>
  bool EnQue(const LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    queue_.EnQue(gn_twin::ThisCore(), tensor.BufferIndex(), depth, gn_twin::ForwardEvent(src, dst), loc);
    return true;
  }
  template <TPosition srcUserPos, TPosition dstUserPos, class T>
  bool EnQue(const LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    queue_.EnQue(gn_twin::ThisCore(), tensor.BufferIndex(), depth, gn_twin::ForwardEvent(srcUserPos, dstUserPos), loc);
    return true;
  }

  // The tensor enqueued first. Always the whole buffer: a smaller view or SetSize does not survive the queue.
  template <class T>
  LocalTensor<T> DeQue(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return View<T>(queue_.DeQue(gn_twin::ThisCore(), gn_twin::ForwardEvent(src, dst), loc));
  }
  template <class T>
  void DeQue(LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    tensor = View<T>(queue_.DeQue(gn_twin::ThisCore(), gn_twin::ForwardEvent(src, dst), loc));
  }
  template <TPosition srcUserPos, TPosition dstUserPos, class T>
  LocalTensor<T> DeQue(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return View<T>(queue_.DeQue(gn_twin::ThisCore(), gn_twin::ForwardEvent(srcUserPos, dstUserPos), loc));
  }

  template <class T>
  void FreeTensor(LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    queue_.Free(gn_twin::ThisCore(), tensor.BufferIndex(), gn_twin::BackwardEvent(src, dst), loc);
  }

  bool VacantInQue() const {
    return queue_.EnQueued() < (depth == 0 ? queue_.Buffers() : static_cast<uint32_t>(depth));
  }
  bool HasTensorInQue() const { return queue_.EnQueued() > 0; }
  int32_t GetTensorCountInQue() const { return static_cast<int32_t>(queue_.EnQueued()); }
  bool HasIdleBuffer() const { return queue_.HasIdle(gn_twin::ThisCore()); }
  void FreeAllEvent(gn_twin::Loc loc = gn_twin::Loc::here()) { queue_.FreeAllEvent(gn_twin::ThisCore(), loc); }
  template <class T>
  TBufState GetState(const LocalTensor<T>& tensor) const {
    return static_cast<TBufState>(gn_twin::ThisCore().buffers[tensor.BufferIndex()].state);
  }

  // Not part of the Ascend C API: TPipe::InitBuffer fills it.
  gn_twin::QueueCore& Queue() { return queue_; }

 private:
  template <class T>
  LocalTensor<T> View(uint16_t index) const {
    gn_twin::Core& core = gn_twin::ThisCore();
    const gn_twin::Buffer& buffer = core.buffers[index];
    return LocalTensor<T>(reinterpret_cast<T*>(core.ub + buffer.offset), buffer.bytes / sizeof(T),
                          src == TPosition::GM ? dst : src, index);
  }

  gn_twin::QueueCore queue_;
};

// VECIN: global memory to vector unit; VECOUT: vector unit to global memory. Other positions: TBuf.
template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos == TPosition::VECIN ? TPosition::GM : pos,
                             pos == TPosition::VECIN ? TPosition::VECIN : TPosition::GM, depth, mask> {
  static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT,
                "TQue takes VECIN or VECOUT on a vector core; memory without a queue is a TBuf");
};

}  // namespace AscendC
