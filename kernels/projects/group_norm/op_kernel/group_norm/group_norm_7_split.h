// GroupNorm, step 7, the class: what its .cpp says at the top.
#pragma once
#include "group_norm_5_resident.h"

template <class T, class Epilogue = GroupNormIdentity>
class GroupNormSplit : public GroupNormResident<T, Epilogue> {
  using Base = GroupNormResident<T, Epilogue>;
  using Statistics = typename Base::Statistics;
  using Range = typename Base::Range;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, GM_ADDR workspace, const __gm__ GroupNormTilingData* tiling) {
    Base::Init(pipe, x, gamma, beta, y, mean, rstd, tiling);
    sharedGroups_ = tiling->sharedGroups;
    sharedFrom_ = tiling->totalGroups - sharedGroups_;
    chunks_ = sharedGroups_ * this->groupChunks_;
    table_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace), 4 * 8 * chunks_);
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    firstChunk_ = core * chunks_ / tiling->usedCores;
    lastChunk_ = (core + 1) * chunks_ / tiling->usedCores;
    this->share_ = {PieceOfChunk(firstChunk_), PieceOfChunk(lastChunk_)};
  }

  __aicore__ inline void Process() {
    this->WholeGroups();
    if (sharedGroups_ > 0) SharedGroups();
    this->Finish();
  }

 private:
  // The number of the piece that a chunk begins with; chunks count through the shared groups.
  __aicore__ inline uint32_t PieceOfChunk(uint32_t chunk) const {
    const uint32_t group = sharedFrom_ + chunk / this->groupChunks_;
    return group * this->groupPieces_ + chunk % this->groupChunks_ * this->chunkPieces_;
  }

  // A share has no more chunks than a group, so it lies in two groups at most.
  __aicore__ inline void SharedGroups() {
    this->Measure();
    if (firstChunk_ < lastChunk_) PublishTable();
    AscendC::SyncAll();
    if (firstChunk_ == lastChunk_) return;
    const uint32_t first = firstChunk_ / this->groupChunks_;
    const uint32_t last = (lastChunk_ - 1) / this->groupChunks_;
    Statistics of[2];
    FetchTables(first, last);
    this->holdsShare_ = false;
    this->LoadAhead();
    this->moments_.Reduce(0, last - first + 1);
    this->moments_.Root(of, last - first + 1, this->groupElements_, this->eps_);
    this->moments_.Complete(of, last - first + 1);
    // The core that has the beginning of a group writes its statistics.
    if (firstChunk_ % this->groupChunks_ == 0) Keep(sharedFrom_ + first, of[0], last == first);
    if (last != first) Keep(sharedFrom_ + last, of[1], true);
    this->Normalise(of);
  }

  __aicore__ inline void Keep(uint32_t group, const Statistics& of, bool last) {
    this->results_.Keep(group, of.centre + of.rest, of.rstd, last);
  }

  // The four columns of this core's chunks, each beside those of the other cores.
  __aicore__ inline void PublishTable() {
    const uint32_t blocks = lastChunk_ - firstChunk_;
    SyncPipes<AscendC::HardEvent::V_MTE3>(this->pipe_);
    const uint32_t others = this->moments_.ColumnBlocks() - blocks;
    AscendC::DataCopyExtParams columns{4, blocks * 32, others, (chunks_ - blocks) * 32, 0};
    AscendC::DataCopyPad(table_[firstChunk_ * 8], this->moments_.Table(this->range_ % 2), columns);
  }

  // All chunks of a group, in their order: every core adds up the same numbers in the same way.
  __aicore__ inline void FetchTables(uint32_t first, uint32_t last) {
    const uint32_t blocks = this->groupChunks_;
    const uint32_t others = this->moments_.ColumnBlocks() - blocks;
    AscendC::DataCopyExtParams columns{4, blocks * 32, (chunks_ - blocks) * 32, others, 0};
    AscendC::DataCopyPadExtParams<float> whole{false, 0, 0, 0.0f};
    for (uint32_t group = first; group <= last; ++group)
      AscendC::DataCopyPad(this->moments_.Table(group - first), table_[group * blocks * 8], columns, whole);
    // The ring has all ids between MTE2 and the vector unit; those by way of MTE3 are free.
    SyncPipes<AscendC::HardEvent::MTE2_MTE3>(this->pipe_);
    SyncPipes<AscendC::HardEvent::MTE3_V>(this->pipe_);
  }

  AscendC::GlobalTensor<float> table_;
  uint32_t sharedGroups_ = 0;
  uint32_t sharedFrom_ = 0;
  uint32_t chunks_ = 0;  // of all shared groups
  uint32_t firstChunk_ = 0;
  uint32_t lastChunk_ = 0;
};
