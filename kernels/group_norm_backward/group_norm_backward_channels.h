// Step 5, the second stage: dgamma and dbeta of channels, from the sums of rows that the first stage left in the workspace.
//
// A core takes groups of channels, and adds up sample after sample: with n the sample, and of each of its rows P = sum(dy) and
// Q = sum(dy * (x - mean)), dgamma = sum over n of rstd * (Q - lack * P), dbeta = sum over n of P. The order is that of the samples;
// the parts of a row lie side by side, and are added up at the end.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "../common/common_sync.h"
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

template <class T>
class GroupNormBackwardChannels {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR rstd, GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                              const __gm__ GroupNormBackwardTilingData* tiling) {
    pipe_ = pipe;
    batch_ = tiling->batch;
    channels_ = tiling->channels;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    parts_ = tiling->pieceLength == 0 ? 1 : (tiling->spatial + tiling->pieceLength - 1) / tiling->pieceLength;
    wantsDgamma_ = (tiling->mask & kGroupNormWantDgamma) != 0;
    wantsDbeta_ = (tiling->mask & kGroupNormWantDbeta) != 0;
    cores_ = tiling->usedCores;
    // Of a row with several parts each channel has blocks of its own: whole channels, or a run of parts of one.
    partsAtOnce_ = parts_ < kLanes ? parts_ : kLanes;
    partsPitch_ = parts_ == 1 ? 1 : (partsAtOnce_ + 7) / 8 * 8;
    channelsAtOnce_ = parts_ == 1 ? kLanes : kLanes / partsPitch_;

    const uint64_t entries = tiling->tableEntries;
    __gm__ float* tables = reinterpret_cast<__gm__ float*>(workspace);
    plainGm_.SetGlobalBuffer(tables, entries);
    spreadGm_.SetGlobalBuffer(tables + entries, entries);
    lackGm_.SetGlobalBuffer(tables + 2 * entries, tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    dgammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dgamma), channels_);
    dbetaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dbeta), channels_);
    pipe_->InitBuffer(rowsQueue_, kAhead, 2 * kLanes * sizeof(float));
    pipe_->InitBuffer(outQueue_, 2, kLanes * sizeof(T));
    pipe_->InitBuffer(numbersBuf_, 2 * kSamples * 32);
    pipe_->InitBuffer(totalsBuf_, 3 * kLanes * sizeof(float));
    pipe_->InitBuffer(scratchBuf_, 2 * kLanes * sizeof(float));
    lacks_ = numbersBuf_.Get<float>();
    rstds_ = lacks_[kSamples * 8];
    dgamma_ = totalsBuf_.Get<float>();
    dbeta_ = dgamma_[kLanes];
    whole_ = dbeta_[kLanes];
    scratch_ = scratchBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    for (uint32_t group = static_cast<uint32_t>(AscendC::GetBlockIdx()); group < groups_; group += cores_) {
      for (uint32_t channel = 0; channel < channelsPerGroup_; channel += channelsAtOnce_) {
        const uint32_t left = channelsPerGroup_ - channel;
        AddSamples(group, channel, left < channelsAtOnce_ ? left : channelsAtOnce_);
      }
    }
  }

 private:
  __aicore__ inline void AddSamples(uint32_t group, uint32_t channel, uint32_t count) {
    const uint32_t lanes = parts_ == 1 ? count : count * partsPitch_;
    AscendC::Duplicate(dgamma_, 0.0f, static_cast<int32_t>(lanes));
    AscendC::Duplicate(dbeta_, 0.0f, static_cast<int32_t>(lanes));
    const uint32_t runs = (parts_ + partsAtOnce_ - 1) / partsAtOnce_;
    for (uint32_t sample = 0; sample < batch_; sample += kSamples) {
      const uint32_t samples = batch_ - sample < kSamples ? batch_ - sample : kSamples;
      if (wantsDgamma_) LoadNumbers(sample * groups_ + group, samples);
      const uint32_t steps = samples * runs;
      for (uint32_t step = 0; step < steps + kAhead - 1; ++step) {
        if (step < steps) {
          const uint64_t row =
              (sample + step / runs) * static_cast<uint64_t>(channels_) + group * channelsPerGroup_ + channel;
          LoadRows(row * parts_ + step % runs * partsAtOnce_, count, step % runs);
        }
        if (step + 1 >= kAhead) AddRows((step + 1 - kAhead) / runs, lanes);
      }
    }
    const uint32_t to = group * channelsPerGroup_ + channel;
    if (wantsDgamma_) Leave(dgammaGm_[to], dgamma_, count);
    if (wantsDbeta_) Leave(dbetaGm_[to], dbeta_, count);
  }

  // rstd and what the mean lacks, of one group in each sample: a block for each, for the scalar unit.
  __aicore__ inline void LoadNumbers(uint32_t first, uint32_t samples) {
    AscendC::DataCopyExtParams column{static_cast<uint16_t>(samples), sizeof(float),
                                      static_cast<uint32_t>((groups_ - 1) * sizeof(float)), 0, 0};
    AscendC::DataCopyPadExtParams<float> any{false, 0, 0, 0.0f};
    SyncPipes<AscendC::HardEvent::S_MTE2>(pipe_);
    AscendC::DataCopyPad(lacks_, lackGm_[first], column, any);
    AscendC::DataCopyPad(rstds_, rstdGm_[first], column, any);
    SyncPipes<AscendC::HardEvent::MTE2_S>(pipe_);
  }

  // Sums of `count` channels of one sample: one each, or a run of parts of each.
  __aicore__ inline void LoadRows(uint64_t entry, uint32_t count, uint32_t run) {
    AscendC::LocalTensor<float> rows = rowsQueue_.AllocTensor<float>();
    const uint32_t left = parts_ - run * partsAtOnce_;
    const uint32_t length = parts_ == 1 ? count : left < partsAtOnce_ ? left : partsAtOnce_;
    const uint32_t pitch = parts_ == 1 ? (count + 7) / 8 * 8 : partsPitch_;
    const uint32_t blocks = (length + 7) / 8;
    AscendC::DataCopyExtParams lines{static_cast<uint16_t>(parts_ == 1 ? 1 : count),
                                     static_cast<uint32_t>(length * sizeof(float)), 0, pitch / 8 - blocks, 0};
    AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>(blocks * 8 - length), 0.0f};
    if (blocks * 8 < pitch) {  // the last run of a row
      AscendC::Duplicate(rows, 0.0f, 2 * static_cast<int32_t>(kLanes));
      SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
    }
    AscendC::DataCopyPad(rows, plainGm_[entry], lines, zeros);
    if (wantsDgamma_) AscendC::DataCopyPad(rows[kLanes], spreadGm_[entry], lines, zeros);
    rowsQueue_.EnQue(rows);
  }

  __aicore__ inline void AddRows(uint32_t sample, uint32_t lanes) {
    AscendC::LocalTensor<float> rows = rowsQueue_.DeQue<float>();
    const int32_t n = static_cast<int32_t>(lanes);
    if (wantsDgamma_) {
      const float rstd = rstds_.GetValue(sample * 8);
      AscendC::Axpy(dgamma_, rows[kLanes], rstd, n);
      AscendC::Axpy(dgamma_, rows, -rstd * lacks_.GetValue(sample * 8), n);
    }
    if (wantsDbeta_) AscendC::Add(dbeta_, dbeta_, rows, n);
    rowsQueue_.FreeTensor(rows);
  }

  __aicore__ inline void Leave(const AscendC::GlobalTensor<T>& to, AscendC::LocalTensor<float> sums, uint32_t count) {
    AscendC::LocalTensor<T> out = outQueue_.AllocTensor<T>();
    if (parts_ > 1) {
      SumLines(whole_, sums, scratch_, kLanes, count, partsPitch_, partsPitch_);
      sums = whole_;
    }
    if constexpr (kIsFloat<T>) {
      AscendC::Adds(out, sums, 0.0f, static_cast<int32_t>(count));
    } else {
      Narrow(out, sums, count);
    }
    outQueue_.EnQue(out);
    out = outQueue_.DeQue<T>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(to, out, row);
    outQueue_.FreeTensor(out);
  }

  static constexpr uint32_t kLanes = 2040;   // 255 blocks, the longest step from line to line
  static constexpr uint32_t kSamples = 256;  // whose numbers are there at once
  static constexpr uint32_t kAhead = 4;
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, kAhead> rowsQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> numbersBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> totalsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> scratchBuf_;
  AscendC::LocalTensor<float> lacks_;
  AscendC::LocalTensor<float> rstds_;
  AscendC::LocalTensor<float> dgamma_;
  AscendC::LocalTensor<float> dbeta_;
  AscendC::LocalTensor<float> whole_;  // sums of rows, from those of their parts
  AscendC::LocalTensor<float> scratch_;
  AscendC::GlobalTensor<float> plainGm_;
  AscendC::GlobalTensor<float> spreadGm_;
  AscendC::GlobalTensor<float> lackGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<T> dgammaGm_;
  AscendC::GlobalTensor<T> dbetaGm_;
  uint32_t batch_ = 0;
  uint32_t channels_ = 0;
  uint32_t groups_ = 0;
  uint32_t channelsPerGroup_ = 0;
  uint32_t parts_ = 0;
  uint32_t partsAtOnce_ = 0;
  uint32_t partsPitch_ = 0;
  uint32_t channelsAtOnce_ = 0;
  uint32_t cores_ = 1;
  bool wantsDgamma_ = true;
  bool wantsDbeta_ = true;
};
