// Step 5, the second stage: dgamma and dbeta of channels, from the table of sums that the first stage left in the workspace.
//
// A line of the table has a number for each channel: of small groups what some samples add to its gradient, final (see
// group_norm_backward_small.h); otherwise the sums of one sample's rows, P = sum(dy) and Q = sum(dy * (x - mean)), in one part or in
// several side by side, and the gradients are dgamma = sum over samples of rstd * (Q - lack * P), dbeta = sum over samples of P.
// Many lines come in one copy, and are added up by halves. What a core takes at once, and with it the order of all sums, depends on
// the shape alone: the channels of a group, or, where the table is small, those of all groups. Then rows lie side by side in memory and cost
// no more than their bytes; rows of parts of blocks, a sample apart, take 55 cycles each.
#pragma once
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "../common/common_sync.h"
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

template <class T>
class GroupNormBackwardChannels {
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR rstd, GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                              const __gm__ GroupNormBackwardTilingData* tiling) {
    pipe_ = pipe;
    const bool small = tiling->tileGroups != 0;
    channels_ = tiling->channels;
    groups_ = small ? 1 : tiling->groups;
    groupChannels_ = small ? channels_ : tiling->channelsPerGroup;
    parts_ = small || tiling->pieceLength == 0 ? 1 : (tiling->spatial + tiling->pieceLength - 1) / tiling->pieceLength;
    lines_ = tiling->tableEntries / parts_ / channels_;
    wantsDgamma_ = (tiling->mask & kGroupNormWantDgamma) != 0;
    wantsDbeta_ = (tiling->mask & kGroupNormWantDbeta) != 0;
    needsPlain_ = wantsDbeta_ || !small;
    corrects_ = wantsDgamma_ && !small;
    cores_ = tiling->usedCores;
    // Of a row with several parts each channel has blocks of its own: whole channels, or a run of parts of one.
    partsAtOnce_ = parts_ < kLongest ? parts_ : kLongest;
    partsPitch_ = parts_ == 1 ? 1 : (partsAtOnce_ + 7) / 8 * 8;
    const uint32_t most = parts_ == 1 ? kLongest : kLongest / partsPitch_;
    const uint32_t share = GroupNormBackwardShare(channels_);
    channelsAtOnce_ = share < most ? share : most;
    groupLanes_ = parts_ == 1 ? (groupChannels_ + 7) / 8 * 8 : groupChannels_ * partsPitch_;
    // Rows of parts of blocks, for each sample: two of numbers of a group, and two of sums.
    const uint32_t partial = (groups_ % 8 != 0 ? 2 : 0) + (parts_ == 1 && groupChannels_ % 8 != 0 ? 2 : 0);
    together_ = groups_ > 1 && groups_ <= kMostGroups && groupChannels_ <= kRepeat && partsAtOnce_ == parts_ &&
                groups_ * RoundUp(groupLanes_) <= kLongest && lines_ * groups_ * groupLanes_ <= 2 * kLanes &&
                groups_ * groupLanes_ <= partial * kInsteadOfRow;

    const uint64_t entries = tiling->tableEntries;
    __gm__ float* tables = reinterpret_cast<__gm__ float*>(workspace);
    plainGm_.SetGlobalBuffer(tables, entries);
    spreadGm_.SetGlobalBuffer(tables + entries, entries);
    lackGm_.SetGlobalBuffer(tables + 2 * entries, tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    dgammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dgamma), channels_);
    dbetaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dbeta), channels_);
    pipe_->InitBuffer(linesQueue_, 2, (2 * kLanes + 2 * kNumbers) * sizeof(float));
    pipe_->InitBuffer(outQueue_, 2, kLongest * sizeof(T));
    pipe_->InitBuffer(blocksBuf_, 2 * (kNumbers + kNumbers / 8) * sizeof(float));
    pipe_->InitBuffer(totalsBuf_, 3 * kLongest * sizeof(float));
    pipe_->InitBuffer(scratchBuf_, kLanes * sizeof(float));
    lacks_ = blocksBuf_.Get<float>();
    rstds_ = lacks_[kNumbers];
    numbers_ = rstds_[kNumbers];
    dgamma_ = totalsBuf_.Get<float>();
    dbeta_ = dgamma_[kLongest];
    whole_ = dbeta_[kLongest];
    scratch_ = scratchBuf_.Get<float>();
    AscendC::Duplicate(numbers_, 0.0f, static_cast<int32_t>(kNumbers / 8));
  }

  __aicore__ inline void Process() {
    if (together_) {
      if (AscendC::GetBlockIdx() == 0) AddLines(0, 0, channels_);
      return;
    }
    const uint32_t each = (groupChannels_ + channelsAtOnce_ - 1) / channelsAtOnce_;
    for (uint32_t task = static_cast<uint32_t>(AscendC::GetBlockIdx()); task < groups_ * each; task += cores_) {
      const uint32_t channel = task % each * channelsAtOnce_;
      const uint32_t left = groupChannels_ - channel;
      AddLines(task / each, channel, left < channelsAtOnce_ ? left : channelsAtOnce_);
    }
  }

 private:
  // So many lines of a run of parts, in local memory at once.
  struct Batch {
    uint32_t line;
    uint32_t lines;
    uint32_t run;
  };

  __aicore__ inline Batch Find(uint32_t batch, uint32_t most, uint32_t runs) const {
    const uint32_t line = batch / runs * most;
    return {line, lines_ - line < most ? lines_ - line : most, batch % runs};
  }

  __aicore__ inline void AddLines(uint32_t group, uint32_t channel, uint32_t count) {
    const uint32_t lanes = together_ ? groups_ * groupLanes_ : parts_ == 1 ? (count + 7) / 8 * 8 : count * partsPitch_;
    const uint32_t numbers = kNumbers / 8 / (together_ ? groups_ : 1);
    const uint32_t most = kLanes / lanes < numbers ? kLanes / lanes : numbers;
    const uint32_t runs = (parts_ + partsAtOnce_ - 1) / partsAtOnce_;
    const uint32_t batches = (lines_ + most - 1) / most * runs;
    AscendC::Duplicate(dgamma_, 0.0f, static_cast<int32_t>(lanes));
    AscendC::Duplicate(dbeta_, 0.0f, static_cast<int32_t>(lanes));
    const uint32_t to = group * groupChannels_ + channel;
    if (batches > 0) Load(Find(0, most, runs), group, to, count, lanes);
    for (uint32_t batch = 0; batch < batches; ++batch) {
      if (batch + 1 < batches) Load(Find(batch + 1, most, runs), group, to, count, lanes);
      Add(Find(batch, most, runs).lines, lanes, group);
    }
    if (wantsDgamma_) Leave(dgammaGm_[to], dgamma_, count);
    if (wantsDbeta_) Leave(dbetaGm_[to], dbeta_, count);
  }

  __aicore__ inline void Load(const Batch& batch, uint32_t group, uint32_t channel, uint32_t count, uint32_t lanes) {
    Floats lines = linesQueue_.template AllocTensor<float>();
    const uint64_t entry =
        (static_cast<uint64_t>(batch.line) * channels_ + channel) * parts_ + batch.run * partsAtOnce_;
    if (together_) {
      LoadTogether(lines, batch, entry);
    } else if (parts_ == 1) {
      // Lines of all channels are one run of numbers.
      const bool together = count == channels_ && count % 8 == 0;
      const uint32_t numbers = together ? batch.lines * count : count;
      AscendC::DataCopyExtParams rows{static_cast<uint16_t>(together ? 1 : batch.lines),
                                      static_cast<uint32_t>(numbers * sizeof(float)),
                                      static_cast<uint32_t>(together ? 0 : (channels_ - count) * sizeof(float)), 0, 0};
      AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>((8 - count % 8) % 8), 0.0f};
      if (needsPlain_) AscendC::DataCopyPad(lines, plainGm_[entry], rows, zeros);
      if (wantsDgamma_) AscendC::DataCopyPad(lines[kLanes], spreadGm_[entry], rows, zeros);
    } else {
      LoadParts(lines, batch, entry, count, lanes);
    }
    if (corrects_ && !together_) {
      // A number of each line, with the block that it is in where every line begins with a block: rows of a part of one take much longer.
      const uint32_t row = groups_ % 8 == 0 ? 8 : 1;
      const uint64_t first = static_cast<uint64_t>(batch.line) * groups_ + group / row * row;
      AscendC::DataCopyExtParams column{static_cast<uint16_t>(batch.lines), static_cast<uint32_t>(row * sizeof(float)),
                                        static_cast<uint32_t>((groups_ - row) * sizeof(float)), 0, 0};
      AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>(8 - row), 0.0f};
      AscendC::DataCopyPad(lines[2 * kLanes], lackGm_[first], column, zeros);
      AscendC::DataCopyPad(lines[2 * kLanes + kNumbers], rstdGm_[first], column, zeros);
    }
    linesQueue_.EnQue(lines);
  }

  // Of each sample each group is a line, in blocks of its own: its channels, or the parts of each. All rows are one run of numbers in memory.
  __aicore__ inline void LoadTogether(const Floats& lines, const Batch& batch, uint64_t entry) {
    const uint32_t rows = batch.lines * (parts_ == 1 ? groups_ : channels_);
    const uint32_t length = parts_ == 1 ? groupChannels_ : parts_;
    AscendC::DataCopyExtParams table{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(float)), 0, 0,
                                     0};
    AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>((8 - length % 8) % 8), 0.0f};
    AscendC::DataCopyPad(lines, plainGm_[entry], table, zeros);
    if (!corrects_) return;
    AscendC::DataCopyPad(lines[kLanes], spreadGm_[entry], table, zeros);
    const uint32_t numbers = batch.lines * groups_;
    AscendC::DataCopyExtParams run{1, static_cast<uint32_t>(numbers * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> behind{true, 0, static_cast<uint8_t>((8 - numbers % 8) % 8), 0.0f};
    AscendC::DataCopyPad(lines[2 * kLanes], lackGm_[batch.line * groups_], run, behind);
    AscendC::DataCopyPad(lines[2 * kLanes + kNumbers], rstdGm_[batch.line * groups_], run, behind);
  }

  __aicore__ inline void LoadParts(const Floats& lines, const Batch& batch, uint64_t entry, uint32_t count,
                                   uint32_t lanes) {
    const uint32_t left = parts_ - batch.run * partsAtOnce_;
    const uint32_t length = left < partsAtOnce_ ? left : partsAtOnce_;
    const uint32_t blocks = (length + 7) / 8;
    AscendC::DataCopyExtParams rows{static_cast<uint16_t>(count), static_cast<uint32_t>(length * sizeof(float)),
                                    static_cast<uint32_t>((parts_ - length) * sizeof(float)), partsPitch_ / 8 - blocks,
                                    0};
    AscendC::DataCopyPadExtParams<float> zeros{true, 0, static_cast<uint8_t>(blocks * 8 - length), 0.0f};
    if (blocks * 8 < partsPitch_) {  // the last run of a row
      AscendC::Duplicate(lines, 0.0f, 2 * static_cast<int32_t>(kLanes));
      SyncPipes<AscendC::HardEvent::V_MTE2>(pipe_);
    }
    for (uint32_t line = 0; line < batch.lines; ++line) {
      const uint64_t at = entry + static_cast<uint64_t>(line) * channels_ * parts_;
      AscendC::DataCopyPad(lines[line * lanes], plainGm_[at], rows, zeros);
      if (wantsDgamma_) AscendC::DataCopyPad(lines[kLanes + line * lanes], spreadGm_[at], rows, zeros);
    }
  }

  __aicore__ inline void Add(uint32_t count, uint32_t lanes, uint32_t group) {
    Floats lines = linesQueue_.template DeQue<float>();
    const Floats spread = lines[kLanes];
    if (corrects_) {
      const uint32_t numbers = together_ ? count * groups_ : count, each = together_ ? groupLanes_ : lanes;
      if (together_) {
        AscendC::Brcb(lacks_, lines[2 * kLanes], static_cast<uint8_t>((numbers + 7) / 8), {1, 8});
        AscendC::Brcb(rstds_, lines[2 * kLanes + kNumbers], static_cast<uint8_t>((numbers + 7) / 8), {1, 8});
      } else {
        const uint32_t lane = groups_ % 8 == 0 ? group % 8 : 0;
        Expand(lacks_, lines[2 * kLanes], count, lane);
        Expand(rstds_, lines[2 * kLanes + kNumbers], count, lane);
      }
      ApplyToLines<LineOp::kMul>(scratch_, lines, lacks_, numbers, each, each);
      AscendC::Sub(spread, spread, scratch_, static_cast<int32_t>(count * lanes));
      ApplyToLines<LineOp::kMul>(spread, spread, rstds_, numbers, each, each);
    }
    if (wantsDgamma_) AddHalves(dgamma_, spread, count, lanes);
    if (wantsDbeta_) AddHalves(dbeta_, lines, count, lanes);
    linesQueue_.FreeTensor(lines);
  }

  // Numbers that came in a block each, at the same place of it, fill their blocks.
  __aicore__ inline void Expand(const Floats& blocks, const Floats& column, uint32_t count, uint32_t lane) {
    const uint32_t whole = count / 8, rest = count % 8;
    uint64_t mask[2] = {0x0101010101010101ull << lane, 0};
    if (whole > 0) AscendC::BlockReduceSum(numbers_, column, static_cast<int32_t>(whole), mask, 1, 1, 8);
    mask[0] &= (1ull << rest * 8) - 1;
    if (rest > 0) AscendC::BlockReduceSum(numbers_[whole * 8], column[whole * 64], 1, mask, 1, 1, 8);
    AscendC::Brcb(blocks, numbers_, static_cast<uint8_t>((count + 7) / 8), {1, 8});
  }

  __aicore__ inline void AddHalves(const Floats& total, const Floats& lines, uint32_t count, uint32_t lanes) {
    while (count > 1) {
      const uint32_t half = (count + 1) / 2;
      AscendC::Add(lines, lines, lines[half * lanes], static_cast<int32_t>((count - half) * lanes));
      count = half;
    }
    AscendC::Add(total, total, lines, static_cast<int32_t>(lanes));
  }

  __aicore__ inline void Leave(const AscendC::GlobalTensor<T>& to, Floats sums, uint32_t count) {
    AscendC::LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    if (parts_ > 1) {
      SumLines(whole_, sums, scratch_, kLanes / 2, count, partsPitch_, partsPitch_);
      sums = whole_;
    }
    // Channels side by side, or, where groups came together, those of each group in blocks of its own.
    const bool apart = together_ && parts_ == 1;
    const uint32_t lanes = apart ? groups_ * groupLanes_ : count;
    if constexpr (kIsFloat<T>) {
      AscendC::Adds(out, sums, 0.0f, static_cast<int32_t>(lanes));
    } else if (apart) {
      AscendC::Cast(
          out, sums, AscendC::RoundMode::CAST_RINT, groupChannels_, static_cast<uint8_t>(groups_),
          {1, 1, static_cast<uint8_t>(RoundUp(groupChannels_) / kBlock), static_cast<uint8_t>(groupLanes_ / 8)});
    } else {
      Narrow(out, sums, count);
    }
    outQueue_.EnQue(out);
    out = outQueue_.template DeQue<T>();
    const uint32_t rows = apart ? groups_ : 1;
    AscendC::DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(count / rows * sizeof(T)), 0, 0,
                                    0};
    AscendC::DataCopyPad(to, out, copy);
    outQueue_.FreeTensor(out);
  }

  // To whole blocks of the dtype.
  __aicore__ inline uint32_t RoundUp(uint32_t elements) const { return (elements + kBlock - 1) / kBlock * kBlock; }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  static constexpr uint32_t kBlock = 32 / sizeof(T);
  static constexpr uint32_t kMostGroups = 255;    // repeats of an instruction
  static constexpr uint32_t kInsteadOfRow = 200;  // floats that come and are added up while one such row comes
  static constexpr uint32_t kLongest = 2040;      // floats of a line: 255 blocks, the longest step from line to line
  static constexpr uint32_t kLanes = 4096;        // floats of all lines that are there at once
  static constexpr uint32_t kNumbers = 2048;      // a block for each of their lines
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 2> linesQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> blocksBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> totalsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> scratchBuf_;
  Floats lacks_;  // a block for each line
  Floats rstds_;
  Floats numbers_;
  Floats dgamma_;
  Floats dbeta_;
  Floats whole_;  // sums of rows, from those of their parts
  Floats scratch_;
  AscendC::GlobalTensor<float> plainGm_;
  AscendC::GlobalTensor<float> spreadGm_;
  AscendC::GlobalTensor<float> lackGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<T> dgammaGm_;
  AscendC::GlobalTensor<T> dbetaGm_;
  uint32_t lines_ = 0;
  uint32_t channels_ = 0;
  uint32_t groups_ = 0;
  uint32_t groupChannels_ = 0;
  uint32_t parts_ = 0;
  uint32_t partsAtOnce_ = 0;
  uint32_t partsPitch_ = 0;
  uint32_t channelsAtOnce_ = 0;
  uint32_t groupLanes_ = 0;  // floats of a group of one sample, where groups come together
  bool together_ = false;
  uint32_t cores_ = 1;
  bool wantsDgamma_ = true;
  bool wantsDbeta_ = true;
  bool needsPlain_ = true;
  bool corrects_ = true;
};
