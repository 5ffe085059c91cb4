// The last stage of the gradients of channels-last GroupNorm: dgamma and dbeta, each the sum of the lines of a table.
//
// A core takes some neighbouring channels of all lines, many lines in one copy, and adds them up by halves. How many it takes at once
// depends on the shape alone, and with it the order of all sums.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_sync.h"
#include "group_norm_backward_nhwc_tiling.h"
#include "group_norm_nhwc_periods.h"

template <class T>
class GroupNormBackwardNhwcLines {
 public:
  // plain, spread: the tables of the workspace, as floats behind its beginning.
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                              const __gm__ GroupNormBackwardNhwcTilingData* tiling) {
    channels_ = tiling->channels;
    lines_ = tiling->lines;
    cores_ = tiling->usedCores;
    mask_ = tiling->mask;
    const uint64_t entries = static_cast<uint64_t>(lines_) * channels_;
    __gm__ float* tables =
        reinterpret_cast<__gm__ float*>(workspace) + static_cast<uint64_t>(tiling->chunks) * 3 * tiling->tableLanes;
    plainGm_.SetGlobalBuffer(tables, entries);
    spreadGm_.SetGlobalBuffer(tables + entries, entries);
    dgammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dgamma), channels_);
    dbetaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dbeta), channels_);
    pipe->InitBuffer(linesQueue_, 2, kAtOnce * kNhwcLineChannels * sizeof(float));
    pipe->InitBuffer(outQueue_, 2, kNhwcLineChannels * sizeof(T));
    pipe->InitBuffer(totalBuf_, kNhwcLineChannels * sizeof(float));
    total_ = totalBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    for (uint32_t first = static_cast<uint32_t>(AscendC::GetBlockIdx()) * kNhwcLineChannels; first < channels_;
         first += cores_ * kNhwcLineChannels) {
      if ((mask_ & kNhwcWantDgamma) != 0) AddLines(dgammaGm_, spreadGm_, first);
      if ((mask_ & kNhwcWantDbeta) != 0) AddLines(dbetaGm_, plainGm_, first);
    }
  }

 private:
  __aicore__ inline void AddLines(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<float>& from,
                                  uint32_t first) {
    const uint32_t left = channels_ - first, width = left < kNhwcLineChannels ? left : kNhwcLineChannels;
    const uint32_t pitch = (width + 7) / 8 * 8;
    AscendC::Duplicate(total_, 0.0f, static_cast<int32_t>(pitch));
    if (lines_ > 0) Load(from, first, width, 0);
    for (uint32_t line = 0; line < lines_; line += kAtOnce) {
      if (line + kAtOnce < lines_) Load(from, first, width, line + kAtOnce);
      AscendC::LocalTensor<float> lines = linesQueue_.template DeQue<float>();
      FoldPeriods(lines, Count(line), pitch, 1);
      AscendC::Add(total_, total_, lines, static_cast<int32_t>(pitch));
      linesQueue_.FreeTensor(lines);
    }
    AscendC::LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    if constexpr (kIsFloat<T>) {
      AscendC::Adds(out, total_, 0.0f, static_cast<int32_t>(width));
    } else {
      Narrow(out, total_, width);
    }
    outQueue_.EnQue(out);
    out = outQueue_.template DeQue<T>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(width * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(to[first], out, row);
    outQueue_.FreeTensor(out);
  }

  __aicore__ inline uint32_t Count(uint32_t line) const { return lines_ - line < kAtOnce ? lines_ - line : kAtOnce; }

  __aicore__ inline void Load(const AscendC::GlobalTensor<float>& from, uint32_t first, uint32_t width, uint32_t line) {
    AscendC::LocalTensor<float> lines = linesQueue_.template AllocTensor<float>();
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(Count(line)), static_cast<uint32_t>(width * sizeof(float)),
                                    static_cast<uint32_t>((channels_ - width) * sizeof(float)), 0, 0};
    AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>((8 - width % 8) % 8), 0.0f};
    AscendC::DataCopyPad(lines, from[static_cast<uint64_t>(line) * channels_ + first], rows, zeros);
    linesQueue_.EnQue(lines);
  }

  static constexpr uint32_t kAtOnce = 256;  // lines: 32 KiB
  AscendC::TQue<AscendC::TPosition::VECIN, 2> linesQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> totalBuf_;
  AscendC::LocalTensor<float> total_;
  AscendC::GlobalTensor<float> plainGm_;
  AscendC::GlobalTensor<float> spreadGm_;
  AscendC::GlobalTensor<T> dgammaGm_;
  AscendC::GlobalTensor<T> dbetaGm_;
  uint32_t channels_ = 0;
  uint32_t lines_ = 0;
  uint32_t cores_ = 1;
  uint32_t mask_ = 0;
};
