// The second stage of RMSNorm's gradients: dgamma, the sum of the lines that the chunks of rows left in the workspace.
//
// A core takes some columns of all lines at once, many lines in one copy, and adds them up by halves. What it takes, and with it the
// order of all sums, depends on the shape alone.
#pragma once
#include "kernel_operator.h"
#include "rms_norm_tiling.h"

class RmsNormBackwardColumns {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dgamma, GM_ADDR workspace,
                              const __gm__ RmsNormBackwardTilingData* tiling) {
    length_ = tiling->length;
    chunks_ = tiling->chunks;
    columns_ = tiling->columns;
    cores_ = tiling->usedCores;
    linesGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace), static_cast<uint64_t>(chunks_) * length_);
    dgammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dgamma), length_);
    pipe->InitBuffer(linesQueue_, 2, kLines * kColumns * sizeof(float));
    pipe->InitBuffer(sumQueue_, 2, kColumns * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint32_t run = static_cast<uint32_t>(AscendC::GetBlockIdx()); run < columns_; run += cores_) {
      const uint32_t left = length_ - run * kColumns;
      AddLines(run * kColumns, left < kColumns ? left : kColumns);
    }
  }

 private:
  __aicore__ inline void AddLines(uint32_t column, uint32_t count) {
    const uint32_t pitch = (count + 7) / 8 * 8;
    AscendC::LocalTensor<float> sum = sumQueue_.AllocTensor<float>();
    AscendC::Duplicate(sum, 0.0f, static_cast<int32_t>(pitch));
    if (chunks_ > 0) Load(0, column, count);
    for (uint32_t line = 0; line < chunks_; line += kLines) {
      if (line < chunks_ - LinesFrom(line)) Load(line + kLines, column, count);
      AscendC::LocalTensor<float> lines = linesQueue_.DeQue<float>();
      for (uint32_t left = LinesFrom(line); left > 1;) {
        const uint32_t upper = (left + 1) / 2;
        AscendC::Add(lines, lines, lines[upper * pitch], static_cast<int32_t>((left - upper) * pitch));
        left = upper;
      }
      AscendC::Add(sum, sum, lines, static_cast<int32_t>(pitch));
      linesQueue_.FreeTensor(lines);
    }
    sumQueue_.EnQue(sum);
    sum = sumQueue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(dgammaGm_[column], sum, row);
    sumQueue_.FreeTensor(sum);
  }

  __aicore__ inline uint32_t LinesFrom(uint32_t line) const {
    return chunks_ - line < kLines ? chunks_ - line : kLines;
  }

  __aicore__ inline void Load(uint32_t line, uint32_t column, uint32_t count) {
    AscendC::LocalTensor<float> lines = linesQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(LinesFrom(line)),
                                    static_cast<uint32_t>(count * sizeof(float)),
                                    static_cast<uint32_t>((length_ - count) * sizeof(float)), 0, 0};
    AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>((8 - count % 8) % 8), 0.0f};
    AscendC::DataCopyPad(lines, linesGm_[static_cast<uint64_t>(line) * length_ + column], rows, zeros);
    linesQueue_.EnQue(lines);
  }

  static constexpr uint32_t kColumns = kRmsNormBackwardColumns;
  static constexpr uint32_t kLines = kRmsNormBackwardLines;
  AscendC::TQue<AscendC::TPosition::VECIN, 2> linesQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> sumQueue_;
  AscendC::GlobalTensor<float> linesGm_;
  AscendC::GlobalTensor<float> dgammaGm_;
  uint32_t length_ = 0;
  uint32_t chunks_ = 0;
  uint32_t columns_ = 0;
  uint32_t cores_ = 1;
};
