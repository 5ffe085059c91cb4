// Copies one strided view into another: dst[i] = src[i], with strides of their own on both sides.
//
// An operator that only takes contiguous tensors needs it twice: before, to pack an input, and after, to unpack an output. One
// instruction moves a tile of rows: a row is what is contiguous on both sides, down to a single element, and rows are a pitch apart.
// The axes around the rows are loops of the scalar unit. No vector instruction: the numbers pass through the Unified Buffer unseen,
// so only their size matters, not their dtype.
// The timeline should show the two DMA pipes, MTE2 and MTE3, side by side, since there are two buffers. Rows of few bytes take as long
// as rows of 32: a transposed view costs several times what a sliced one does.
#include "kernel_operator.h"
#include "strided_copy_tiling.h"

template <class T>
class StridedCopy {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR src, GM_ADDR dst,
                              const __gm__ StridedCopyTilingData* tiling) {
    srcGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(src), tiling->srcElements);
    dstGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dst), tiling->dstElements);
    tiling_ = tiling;
    rowTiles_ = tiling->rowTiles;
    rowParts_ = tiling->rowParts;
    rowsPerTile_ = tiling->rowsPerTile;
    partElements_ = tiling->partElements;
    rows_ = tiling->rows;
    rowElements_ = tiling->rowElements;
    srcPitch_ = tiling->srcPitch;
    dstPitch_ = tiling->dstPitch;
    const uint32_t rowBlocks = (partElements_ * sizeof(T) + kBlock - 1) / kBlock;
    pipe->InitBuffer(queue_, 2, rowsPerTile_ * rowBlocks * kBlock);
  }

  __aicore__ inline void Process() {
    const uint64_t core = static_cast<uint64_t>(AscendC::GetBlockIdx());
    const uint64_t extra = tiling_->extraUnits, share = tiling_->unitsPerCore;
    const uint64_t begin = core * share + (core < extra ? core : extra);
    const uint64_t end = begin + share + (core < extra ? 1 : 0);
    for (uint64_t unit = begin; unit < end; ++unit) Move(unit);
  }

 private:
  // One tile: in through MTE2, out through MTE3.
  __aicore__ inline void Move(uint64_t unit) {
    const uint64_t part = unit % rowParts_ * partElements_;
    const uint64_t tile = unit / rowParts_ % rowTiles_ * rowsPerTile_;
    uint64_t turn = unit / rowParts_ / rowTiles_;
    uint64_t srcAt = tile * srcPitch_ + part, dstAt = tile * dstPitch_ + part;
    for (uint32_t loop = tiling_->loops; loop > 0; --loop) {
      const uint64_t count = tiling_->loopCounts[loop - 1], index = turn % count;
      srcAt += index * tiling_->srcStrides[loop - 1];
      dstAt += index * tiling_->dstStrides[loop - 1];
      turn /= count;
    }
    const uint64_t rows = rows_ - tile < rowsPerTile_ ? rows_ - tile : rowsPerTile_;
    const uint64_t length = rowElements_ - part < partElements_ ? rowElements_ - part : partElements_;
    const uint16_t count = static_cast<uint16_t>(rows);
    const uint32_t bytes = static_cast<uint32_t>(length * sizeof(T));
    // A pitch says nothing where there is one row, and may then be shorter than the row.
    const uint32_t srcGap = rows == 1 ? 0 : static_cast<uint32_t>((srcPitch_ - length) * sizeof(T));
    const uint32_t dstGap = rows == 1 ? 0 : static_cast<uint32_t>((dstPitch_ - length) * sizeof(T));

    AscendC::LocalTensor<T> in = queue_.template AllocTensor<T>();
    AscendC::DataCopyExtParams inRows{count, bytes, srcGap, 0, 0};
    AscendC::DataCopyPadExtParams<T> any{false, 0, 0, 0};
    AscendC::DataCopyPad(in, srcGm_[srcAt], inRows, any);
    queue_.EnQue(in);
    AscendC::LocalTensor<T> out = queue_.template DeQue<T>();
    AscendC::DataCopyExtParams outRows{count, bytes, 0, dstGap, 0};
    AscendC::DataCopyPad(dstGm_[dstAt], out, outRows);
    queue_.FreeTensor(out);
  }

  static constexpr uint32_t kBlock = 32;  // bytes
  AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue_;
  AscendC::GlobalTensor<T> srcGm_;
  AscendC::GlobalTensor<T> dstGm_;
  const __gm__ StridedCopyTilingData* tiling_ = nullptr;
  uint64_t rows_ = 0;
  uint64_t rowElements_ = 0;
  uint64_t srcPitch_ = 0;
  uint64_t dstPitch_ = 0;
  uint32_t rowTiles_ = 0;
  uint32_t rowParts_ = 0;
  uint32_t rowsPerTile_ = 0;
  uint32_t partElements_ = 0;
};

template <class T>
__aicore__ inline void RunStridedCopy(GM_ADDR x, GM_ADDR y, const __gm__ StridedCopyTilingData* numbers) {
  AscendC::TPipe pipe;
  StridedCopy<T> op;
  op.Init(&pipe, x, y, numbers);
  op.Process();
}

extern "C" __global__ __aicore__ void strided_copy(GM_ADDR x, GM_ADDR y, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ StridedCopyTilingData*>(tiling);
  if (numbers->itemBytes == 4) return RunStridedCopy<uint32_t>(x, y, numbers);
  RunStridedCopy<uint16_t>(x, y, numbers);
}
