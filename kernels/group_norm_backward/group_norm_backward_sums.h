// Sums of rows and of groups, for step 5. Of each row of a piece three: of dy, of dy * (x - mean), and of x - mean; the last one only
// where it is asked for. A group's are those of its rows, the first two weighed with gamma: chunk by chunk, and then over all chunks, always in that order, whoever took them.
#pragma once
#include "../common/common_lines.h"
#include "../common/common_sync.h"
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

// piece: elements of the largest piece. shortRows: a row may be one block of floats.
template <uint32_t piece, bool shortRows>
class GroupNormBackwardSums {
 public:
  // How many of the three, from the first on.
  enum Of : uint32_t { kPlain = 1, kWithSpread = 2, kWithOffset = 3 };
  static constexpr uint32_t kChunks = kGroupNormBackwardChunks;
  static constexpr uint32_t kPiece = piece;
  // Sums of eight of rows of one block are as many as its floats, of longer ones at most half.
  static constexpr uint32_t kScratch = shortRows ? kPiece : kPiece / 2;
  static constexpr uint32_t kScratchFloats = 2 * kScratch;

  // pitch: numbers from one kind of sums to the next, whole blocks.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t pitch) {
    pitch_ = pitch;
    pipe->InitBuffer(scratchBuf_, kScratchFloats * sizeof(float));
    pipe->InitBuffer(partsBuf_, 3 * (kPiece / 8 + kRepeat) * sizeof(float));
    pipe->InitBuffer(chunkBuf_, 3 * pitch_ * sizeof(float));
    pipe->InitBuffer(tableBuf_, 2 * 3 * kChunks * sizeof(float));
    pipe->InitBuffer(totalBuf_, 2 * 3 * 8 * sizeof(float));
    scratch_ = scratchBuf_.Get<float>();
    parts_ = partsBuf_.Get<float>();
    fewer_ = parts_[3 * kPiece / 8];
    chunk_ = chunkBuf_.Get<float>();
    table_ = tableBuf_.Get<float>();
    total_ = totalBuf_.Get<float>();
    AscendC::Duplicate(parts_, 0.0f, 3 * kPiece / 8);
    AscendC::Duplicate(table_, 0.0f, 2 * 3 * kChunks);  // not every column is filled for every group
  }

  __aicore__ inline AscendC::LocalTensor<float> Scratch() const { return scratch_; }
  // Sums of the chunks, of one group or of two; a column for each kind.
  __aicore__ inline AscendC::LocalTensor<float> Column(uint32_t which, uint32_t kind) const {
    return table_[(which * 3 + kind) * kChunks];
  }

  // sums[kind * pitch + row] for the first `kinds`; values[kind] has `rows` rows of `length` floats, `pitch` apart, zeros behind each.
  __aicore__ inline void OfRows(const AscendC::LocalTensor<float>& sums, const AscendC::LocalTensor<float> values[3],
                                uint32_t kinds, uint32_t rows, uint32_t pitch) {
    if (SumsAcross(rows, pitch)) {  // an instruction for many rows
      const uint32_t whole = (rows + 7) / 8 * 8;
      if (kinds == kWithSpread && whole == pitch_ &&
          kinds * whole * ((pitch + kRepeat - 1) / kRepeat) * 8 <= kScratch) {
        const AscendC::LocalTensor<float> both[kWithSpread] = {values[0], values[1]};
        return SumLinesOf<kWithSpread>(sums, both, scratch_, kScratch, rows, pitch, pitch);
      }
      for (uint32_t kind = 0; kind < kinds; ++kind)
        SumLines(sums[kind * pitch_], values[kind], scratch_, kScratch, rows, pitch, pitch);
      return;
    }
    if (pitch < longest_) AscendC::Duplicate(parts_, 0.0f, 3 * kPiece / 8);  // sums of a longer row are still there
    longest_ = pitch;
    const int32_t whole = static_cast<int32_t>(pitch / kRepeat), rest = static_cast<int32_t>(pitch % kRepeat);
    for (uint32_t row = 0; row < rows; ++row) {  // along the row: each instruction leaves an eighth
      for (uint32_t kind = 0; kind < kinds; ++kind) {
        const AscendC::LocalTensor<float> line = values[kind][row * pitch];
        const AscendC::LocalTensor<float> parts = parts_[kind * kPiece / 8];
        if (whole > 0) AscendC::BlockReduceSum(parts, line, whole, kRepeat, 1, 1, 8);
        if (rest > 0) AscendC::BlockReduceSum(parts[whole * 8], line[whole * kRepeat], 1, rest, 1, 1, 8);
      }
      const int32_t repeats = static_cast<int32_t>(kinds * kPiece / 8 / kRepeat);
      AscendC::BlockReduceSum(fewer_, parts_, repeats, kRepeat, 1, 1, 8);
      AscendC::WholeReduceSum(sums[row], fewer_, kPiece / kRepeat, static_cast<int32_t>(kinds),
                              static_cast<int32_t>(pitch_), 1, kPiece / kRepeat / 8);
    }
  }

  // The sums of a piece's rows join those of its chunk; the last piece of a chunk gives an entry of the table: entry is where
  // the first column has it. weighed: dx is wanted; otherwise only the sum of x - mean is, if it was taken (offset).
  __aicore__ inline void Join(const AscendC::LocalTensor<float>& sums, const AscendC::LocalTensor<float>& gamma,
                              uint32_t rows, bool weighed, bool offset, bool first, bool last,
                              const AscendC::LocalTensor<float>& entry) {
    const int32_t n = static_cast<int32_t>(rows);
    const uint32_t from = weighed ? 0 : 2, to = offset ? 3 : 2;  // the kinds that count
    const AscendC::LocalTensor<float> offsets = chunk_[2 * pitch_];
    if (first) {
      if (weighed && rows <= kRepeat) {
        AscendC::Mul(chunk_, sums, gamma, rows, 2, EachKind());
      } else if (weighed) {
        AscendC::Mul(chunk_, sums, gamma, n);
        AscendC::Mul(chunk_[pitch_], sums[pitch_], gamma, n);
      }
      if (offset) AscendC::Adds(offsets, sums[2 * pitch_], 0.0f, n);
      chunkRows_ = rows;
    } else {  // never more rows than the first piece has
      if (weighed && rows <= kRepeat) {
        AscendC::MulAddDst(chunk_, sums, gamma, rows, 2, EachKind());
      } else if (weighed) {
        AscendC::MulAddDst(chunk_, sums, gamma, n);
        AscendC::MulAddDst(chunk_[pitch_], sums[pitch_], gamma, n);
      }
      if (offset) AscendC::Add(offsets, offsets, sums[2 * pitch_], n);
    }
    if (!last || from == to) return;
    if (chunkRows_ <= kRepeat) {
      AscendC::WholeReduceSum(entry[from * kChunks], chunk_[from * pitch_], static_cast<int32_t>(chunkRows_),
                              static_cast<int32_t>(to - from), kChunks, 1, static_cast<int32_t>(pitch_ / 8));
      return;
    }
    for (uint32_t kind = from; kind < to; ++kind)
      AscendC::ReduceSum(entry[kind * kChunks], chunk_[kind * pitch_], scratch_, static_cast<int32_t>(chunkRows_));
  }

  // The sums of a group of so many chunks, for the scalar unit: Total, after it has waited for the vector unit.
  __aicore__ inline void AddChunks(uint32_t which, uint32_t chunks, bool weighed) {
    chunks_ = chunks;
    if (chunks == 1) return;
    if (chunks <= kRepeat) {
      AscendC::WholeReduceSum(total_[which * 3 * 8], Column(which, 0), static_cast<int32_t>(chunks), 3, 8, 1,
                              kChunks / 8);
      return;
    }
    for (uint32_t kind = weighed ? 0 : 2; kind < 3; ++kind)
      AscendC::ReduceSum(total_[(which * 3 + kind) * 8], Column(which, kind), scratch_, static_cast<int32_t>(chunks));
  }
  __aicore__ inline float Total(uint32_t which, uint32_t kind) const {
    return chunks_ == 1 ? Column(which, kind).GetValue(0) : total_.GetValue((which * 3 + kind) * 8);
  }

 private:
  // Two rows only up to so many repeats that the sums of both kinds have further rounds in common.
  __aicore__ inline bool SumsAcross(uint32_t rows, uint32_t pitch) const {
    return rows > pitch / kRepeat || rows > 2 || (rows == 2 && pitch % kRepeat == 0 && pitch <= 16 * kRepeat);
  }

  // A repeat has the rows of the sum of dy, the next one those of the second; gamma is the same for both.
  __aicore__ inline AscendC::BinaryRepeatParams EachKind() const {
    const uint8_t step = static_cast<uint8_t>(pitch_ / 8);
    return AscendC::BinaryRepeatParams(1, 1, 1, step, step, 0);
  }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  AscendC::TBuf<AscendC::TPosition::VECCALC> scratchBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> partsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> chunkBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tableBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> totalBuf_;
  AscendC::LocalTensor<float> scratch_;
  AscendC::LocalTensor<float> parts_;
  AscendC::LocalTensor<float> fewer_;
  AscendC::LocalTensor<float> chunk_;
  AscendC::LocalTensor<float> table_;
  AscendC::LocalTensor<float> total_;
  uint32_t pitch_ = 0;
  uint32_t longest_ = 0;  // floats of the last row that was taken along itself
  uint32_t chunkRows_ = 0;
  uint32_t chunks_ = 0;
};
