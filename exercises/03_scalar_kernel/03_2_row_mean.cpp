// 03.2 The mean of each row, through the scalar unit.
//
// x holds `rows` rows of `length` floats, one row after the other; mean gets one float
// for each row. A row may be longer than the buffer, so it is processed in chunks of
// kChunk elements, and the last chunk may be shorter. The compiler adds no waits: every
// Sync below is needed.
#include "kernel_operator.h"

constexpr uint32_t kChunk = 256;  // elements that fit the buffer

class RowMean {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR mean,
                              uint32_t rows, uint32_t length) {
    pipe_ = pipe;
    rows_ = rows;
    length_ = length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x),
                         static_cast<uint64_t>(rows) * length);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), rows);
    pipe_->InitBuffer(inBuffer_, kChunk * sizeof(float));
    pipe_->InitBuffer(outBuffer_, 32);
    in_ = inBuffer_.Get<float>();
    out_ = outBuffer_.Get<float>();
  }

  __aicore__ inline void Process() {
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t row = static_cast<uint32_t>(AscendC::GetBlockIdx()); row < rows_;
         row += cores)
      Write(row, Mean(row));
  }

 private:
  // YOUR TURN: the mean of the row's length_ elements. Load brings a chunk,
  // in_.GetValue(i) reads element i of it.
  __aicore__ inline float Mean(uint32_t row) {
    (void)row;
    return 0.0f;
  }

  // Brings `count` elements of the row, starting at element `at`, into in_. count is at
  // most kChunk.
  __aicore__ inline void Load(uint32_t row, uint32_t at, uint32_t count) {
    Sync<AscendC::HardEvent::S_MTE2>();
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                    0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(in_, xGm_[static_cast<uint64_t>(row) * length_ + at], part,
                         pad);
    Sync<AscendC::HardEvent::MTE2_S>();
  }

  // One float: DataCopyPad writes exactly four bytes, so neighbouring cores do not
  // disturb each other.
  __aicore__ inline void Write(uint32_t row, float mean) {
    out_.SetValue(0, mean);
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[row], out_, one);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  // The second pipe of the event waits until the first has finished.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECIN> inBuffer_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> outBuffer_;
  AscendC::LocalTensor<float> in_;
  AscendC::LocalTensor<float> out_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> meanGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
};

extern "C" __global__ __aicore__ void row_mean(GM_ADDR x, GM_ADDR mean, uint32_t rows,
                                               uint32_t length) {
  AscendC::TPipe pipe;
  RowMean op;
  op.Init(&pipe, x, mean, rows, length);
  op.Process();
}
