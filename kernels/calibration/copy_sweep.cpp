// Reads a matrix of halves tile by tile and uses nothing of it: how fast transfers of different shapes are.
//
// The timeline should show MTE2 alone. What bounds it changes with the tile: the rate at which transfers are issued, the whole lines of
// 512 bytes that short rows cost, the memory, or the L2 cache where slices are read again.
#include "kernel_operator.h"

class CopySweep {
 public:
  __aicore__ inline void Init(GM_ADDR source, uint32_t rows, uint32_t columns, uint32_t tile_rows,
                              uint32_t tile_columns, uint32_t bypass) {
    columns_ = columns;
    tile_rows_ = tile_rows;
    tile_columns_ = tile_columns;
    share_ = rows / static_cast<uint32_t>(AscendC::GetBlockNum());
    source_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(source), uint64_t{rows} * columns);
    if (bypass != 0) source_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
    tile_ = AscendC::LocalTensor<half>(AscendC::TPosition::VECCALC, 0, tile_rows * tile_columns);
  }

  // The rows of one share, `slices` vertical slices one after the other, each read `passes` times.
  __aicore__ inline void Share(uint32_t share, uint32_t slices, uint32_t passes) {
    const uint32_t width = columns_ / slices;
    for (uint32_t slice = 0; slice < slices; ++slice) {
      for (uint32_t pass = 0; pass < passes; ++pass) Slice(share, slice * width, slice * width + width);
    }
  }

  // Every share, from this block's own on (`rotate`) or from the first.
  __aicore__ inline void Everything(uint32_t rotate) {
    const uint32_t blocks = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t first = rotate != 0 ? static_cast<uint32_t>(AscendC::GetBlockIdx()) : 0;
    for (uint32_t i = 0; i < blocks; ++i) Slice((first + i) % blocks, 0, columns_);
  }

 private:
  __aicore__ inline void Slice(uint32_t share, uint32_t begin, uint32_t end) {
    for (uint32_t row = share * share_; row < (share + 1) * share_; row += tile_rows_) {
      for (uint32_t column = begin; column < end; column += tile_columns_) {
        const uint32_t width = end - column < tile_columns_ ? end - column : tile_columns_;
        AscendC::DataCopyExtParams shape{static_cast<uint16_t>(tile_rows_), static_cast<uint32_t>(width * sizeof(half)),
                                         static_cast<uint32_t>((columns_ - width) * sizeof(half)), 0, 0};
        AscendC::DataCopyPadExtParams<half> pad{false, 0, 0, 0};
        AscendC::DataCopyPad(tile_, source_[uint64_t{row} * columns_ + column], shape, pad);
      }
    }
  }

  AscendC::GlobalTensor<half> source_;
  AscendC::LocalTensor<half> tile_;
  uint32_t columns_ = 0;
  uint32_t tile_rows_ = 0;
  uint32_t tile_columns_ = 0;
  uint32_t share_ = 0;  // rows of one block
};

// order: 0 each block reads its own share; 1 all blocks read everything in the same order; 2 each begins with its own share.
extern "C" __global__ __aicore__ void copy_sweep(GM_ADDR source, uint32_t rows, uint32_t columns, uint32_t tile_rows,
                                                 uint32_t tile_columns, uint32_t slices, uint32_t passes,
                                                 uint32_t order, uint32_t bypass) {
  CopySweep op;
  op.Init(source, rows, columns, tile_rows, tile_columns, bypass);
  if (order == 0) {
    op.Share(static_cast<uint32_t>(AscendC::GetBlockIdx()), slices, passes);
  } else {
    op.Everything(order == 2 ? 1 : 0);
  }
  AscendC::PipeBarrier<PIPE_ALL>();
}
