// z = x + y for n halves, tuned step by step: element by element, with vectors, on all cores, in larger tiles, double buffered,
// past the L2 cache, without bank conflicts. The caller chooses the step by its numbers; the work is always the same.
//
// The timeline should show what bounds each step: the scalar unit, the latency of single transfers, then the memory.
#include "kernel_operator.h"

using AscendC::HardEvent;

constexpr uint32_t kRow = 8192;  // elements: whole rows are shared out

// Where the tiles lie in the Unified Buffer, in bytes, one set for each of at most two buffers.
struct Places {
  uint32_t x[2];
  uint32_t y[2];
  uint32_t z[2];
};

class AddStory {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows, uint32_t tile, uint32_t buffers,
                              uint32_t bypass, Places places) {
    const uint32_t blocks = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t block = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t longer = rows % blocks;  // the first blocks take one row more
    const uint64_t first = uint64_t{rows / blocks} * block + (block < longer ? block : longer);
    count_ = (rows / blocks + (block < longer ? 1 : 0)) * kRow;
    tile_ = tile;
    buffers_ = buffers;
    places_ = places;
    x_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x) + first * kRow, count_);
    y_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y) + first * kRow, count_);
    z_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(z) + first * kRow, count_);
    if (bypass != 0) {
      x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
      y_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
    }
  }

  // Flags in both directions: data are there (MTE2_V, V_MTE3), the buffer is free again (V_MTE2, MTE3_V).
  __aicore__ inline void Vectors() {
    for (uint32_t i = 0; i < buffers_; ++i) {
      AscendC::SetFlag<HardEvent::V_MTE2>(static_cast<int32_t>(i));
      AscendC::SetFlag<HardEvent::MTE3_V>(static_cast<int32_t>(i));
    }
    for (uint32_t at = 0, turn = 0; at < count_; at += tile_, turn = (turn + 1) % buffers_) {
      const uint32_t count = count_ - at < tile_ ? count_ - at : tile_;
      const int32_t id = static_cast<int32_t>(turn);
      AscendC::WaitFlag<HardEvent::V_MTE2>(id);
      AscendC::DataCopy(Tile(places_.x[turn]), x_[at], count);
      AscendC::DataCopy(Tile(places_.y[turn]), y_[at], count);
      AscendC::SetFlag<HardEvent::MTE2_V>(id);
      AscendC::WaitFlag<HardEvent::MTE2_V>(id);
      AscendC::WaitFlag<HardEvent::MTE3_V>(id);
      AscendC::Add(Tile(places_.z[turn]), Tile(places_.x[turn]), Tile(places_.y[turn]), static_cast<int32_t>(count));
      AscendC::SetFlag<HardEvent::V_MTE2>(id);
      AscendC::SetFlag<HardEvent::V_MTE3>(id);
      AscendC::WaitFlag<HardEvent::V_MTE3>(id);
      AscendC::DataCopy(z_[at], Tile(places_.z[turn]), count);
      AscendC::SetFlag<HardEvent::MTE3_V>(id);
    }
    for (uint32_t i = 0; i < buffers_; ++i) {
      AscendC::WaitFlag<HardEvent::V_MTE2>(static_cast<int32_t>(i));
      AscendC::WaitFlag<HardEvent::MTE3_V>(static_cast<int32_t>(i));
    }
  }

  // The same with the scalar unit in place of the vector unit, and one buffer.
  __aicore__ inline void Elements() {
    AscendC::LocalTensor<half> x = Tile(places_.x[0]);
    AscendC::LocalTensor<half> y = Tile(places_.y[0]);
    AscendC::LocalTensor<half> z = Tile(places_.z[0]);
    AscendC::SetFlag<HardEvent::MTE3_S>(EVENT_ID0);
    for (uint32_t at = 0; at < count_; at += tile_) {
      const uint32_t count = count_ - at < tile_ ? count_ - at : tile_;
      AscendC::DataCopy(x, x_[at], count);
      AscendC::DataCopy(y, y_[at], count);
      AscendC::SetFlag<HardEvent::MTE2_S>(EVENT_ID0);
      AscendC::WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
      AscendC::WaitFlag<HardEvent::MTE3_S>(EVENT_ID0);
      for (uint32_t i = 0; i < count; ++i) {
        const float sum = static_cast<float>(x.GetValue(i)) + static_cast<float>(y.GetValue(i));
        z.SetValue(i, static_cast<half>(sum));
      }
      AscendC::SetFlag<HardEvent::S_MTE2>(EVENT_ID0);
      AscendC::WaitFlag<HardEvent::S_MTE2>(EVENT_ID0);
      AscendC::SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
      AscendC::WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
      AscendC::DataCopy(z_[at], z, count);
      AscendC::SetFlag<HardEvent::MTE3_S>(EVENT_ID0);
    }
    AscendC::WaitFlag<HardEvent::MTE3_S>(EVENT_ID0);
  }

 private:
  __aicore__ inline AscendC::LocalTensor<half> Tile(uint32_t address) {
    return AscendC::LocalTensor<half>(AscendC::TPosition::VECCALC, address, tile_);
  }

  AscendC::GlobalTensor<half> x_;
  AscendC::GlobalTensor<half> y_;
  AscendC::GlobalTensor<half> z_;
  Places places_;
  uint32_t count_ = 0;
  uint32_t tile_ = 0;
  uint32_t buffers_ = 1;
};

// tile: elements. buffers: 1 or 2; 0 adds element by element. bypass: 1 reads past the L2 cache. y0 ... z1: where the tiles lie in
// the Unified Buffer, in bytes; the first x tile starts at 0.
extern "C" __global__ __aicore__ void add_story(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows, uint32_t tile,
                                                uint32_t buffers, uint32_t bypass, uint32_t y0, uint32_t z0,
                                                uint32_t x1, uint32_t y1, uint32_t z1) {
  AddStory op;
  op.Init(x, y, z, rows, tile, buffers, bypass, Places{{0, x1}, {y0, y1}, {z0, z1}});
  if (buffers == 0) {
    op.Elements();
  } else {
    op.Vectors();
  }
}
