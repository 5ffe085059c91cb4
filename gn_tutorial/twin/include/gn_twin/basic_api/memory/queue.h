// TQue and TQueBind: buffers that travel from one pipe to the next in order.
//
// Source: docs/zh/api, 资源管理/TQue, TQueBind.
#pragma once
#include "gn_twin/basic_api/memory/queue_core.h"

namespace AscendC {

// A queue whose buffers go from position `src` to position `dst`. `depth`: how many tensors may be enqueued at once;
// 0: as many as there are buffers.
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

  // Returns the tensor that was enqueued first, as the whole buffer: the queue keeps neither a smaller view nor the
  // length that SetSize set.
  template <class T>
  LocalTensor<T> DeQue(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return View<T>(queue_.DeQue(gn_twin::ThisCore(), gn_twin::ForwardEvent(src, dst), loc));
  }
  template <class T>
  void DeQue(LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    tensor = View<T>(queue_.DeQue(gn_twin::ThisCore(), gn_twin::ForwardEvent(src, dst), loc));
  }
  // Dequeues the oldest buffer, waits for its flag, and returns its address. This form is for a kernel that still holds
  // the tensor.
  TBufHandle DeQue(gn_twin::Loc loc = gn_twin::Loc::here()) { return DeQue<uint8_t>(loc).Data(); }
  template <TPosition srcUserPos, TPosition dstUserPos, class T>
  LocalTensor<T> DeQue(gn_twin::Loc loc = gn_twin::Loc::here()) {
    return View<T>(queue_.DeQue(gn_twin::ThisCore(), gn_twin::ForwardEvent(srcUserPos, dstUserPos), loc));
  }

  template <class T>
  void FreeTensor(LocalTensor<T>& tensor, gn_twin::Loc loc = gn_twin::Loc::here()) {
    queue_.Free(gn_twin::ThisCore(), tensor.BufferIndex(), gn_twin::BackwardEvent(src, dst), loc);
  }

  bool VacantInQue(gn_twin::Loc loc = gn_twin::Loc::here()) const {
    queue_.NoteAsked("VacantInQue", loc);
    return queue_.EnQueued() < (depth == 0 ? queue_.Buffers() : static_cast<uint32_t>(depth));
  }
  bool HasTensorInQue(gn_twin::Loc loc = gn_twin::Loc::here()) const {
    queue_.NoteAsked("HasTensorInQue", loc);
    return queue_.EnQueued() > 0;
  }
  int32_t GetTensorCountInQue(gn_twin::Loc loc = gn_twin::Loc::here()) const {
    queue_.NoteAsked("GetTensorCountInQue", loc);
    return static_cast<int32_t>(queue_.EnQueued());
  }
  bool HasIdleBuffer(gn_twin::Loc loc = gn_twin::Loc::here()) const {
    queue_.NoteAsked("HasIdleBuffer", loc);
    return queue_.HasIdle(gn_twin::ThisCore());
  }
  void FreeAllEvent(gn_twin::Loc loc = gn_twin::Loc::here()) { queue_.FreeAllEvent(gn_twin::ThisCore(), loc); }
  template <class T>
  TBufState GetState(const LocalTensor<T>& tensor) const {
    return static_cast<TBufState>(gn_twin::ThisCore().buffers[tensor.BufferIndex()].state);
  }

  // Not part of the Ascend C API. TPipe::InitBuffer initialises the queue through it.
  gn_twin::QueueCore& Queue() { return queue_; }

 private:
  template <class T>
  LocalTensor<T> View(uint16_t index) const {
    gn_twin::Core& core = gn_twin::ThisCore();
    const gn_twin::Buffer& buffer = core.buffers[index];
    return LocalTensor<T>(reinterpret_cast<T*>(core.ub + buffer.offset),
                          static_cast<uint32_t>(gn_twin::ElementsIn<T>(buffer.bytes)), src == TPosition::GM ? dst : src,
                          index, buffer.lent);
  }

  gn_twin::QueueCore queue_;
};

// The configuration of a queue beyond its depth: the formats of matrix operands, and a fixed number of buffers. A
// kernel passes `&config` in place of `mask`. None of it changes the results of a vector kernel.
struct TQueConfig {
  bool nd2nz = false;
  bool nz2nd = false;
  bool scmBlockGroup = false;
  uint32_t bufferLen = 0;
  uint32_t bufferNumber = 0;
  uint32_t consumerSize = 0;
  TPosition consumer[8] = {};
  bool enableStaticEvtId = false;
  bool enableLoopQueue = false;
};

// VECIN: a queue from global memory to the vector unit; VECOUT: one from the vector unit to global memory. Other
// positions need a TBuf.
template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos == TPosition::VECIN ? TPosition::GM : pos,
                             pos == TPosition::VECIN ? TPosition::VECIN : TPosition::GM, depth, mask> {
  static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT,
                "TQue takes VECIN or VECOUT on a vector core; memory without a queue is a TBuf");
};

}  // namespace AscendC
