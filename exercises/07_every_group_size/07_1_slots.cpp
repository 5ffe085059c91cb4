// 07.1 What fits stays: pieces of a row in slots.
//
// x holds `rows` rows of `length` floats, and y gets x minus the mean of its row.
// `length` is a multiple of 64. A row is read in pieces of kPiece floats (the last may
// be shorter), each into the next of kSlots slots.
//
// A row of up to kSlots pieces is read once: its pieces wait in their slots until the
// mean is known, and are changed in place. Of a longer row the last kSlots pieces stay,
// and only those before them are read a second time.
#include "kernel_operator.h"

constexpr uint32_t kPiece = 512;  // floats of a slot
constexpr uint32_t kSlots = 4;

class Slots {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t rows,
                              uint32_t length) {
    pipe_ = pipe;
    rows_ = rows;
    length_ = length;
    pieces_ = (length + kPiece - 1) / kPiece;
    const uint64_t elements = static_cast<uint64_t>(rows) * length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), elements);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), elements);
    pipe_->InitBuffer(slotsBuf_, kSlots * kPiece * sizeof(float));
    pipe_->InitBuffer(sumsBuf_, 3 * kPiece / 8 * sizeof(float));
    pipe_->InitBuffer(sumBuf_, 32);
    slots_ = slotsBuf_.Get<float>();
    sums_ = sumsBuf_.Get<float>();
    parts_ = sums_[kPiece / 8];
    work_ = parts_[kPiece / 8];
    sum_ = sumBuf_.Get<float>();
    for (uint32_t slot = 0; slot < kSlots; ++slot) {  // a slot's number is its flag's
      pipe_->AllocEventID<AscendC::HardEvent::MTE2_V>();
      pipe_->AllocEventID<AscendC::HardEvent::V_MTE2>();
      pipe_->AllocEventID<AscendC::HardEvent::MTE3_MTE2>();
    }
  }

  __aicore__ inline void Process() {
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t row = static_cast<uint32_t>(AscendC::GetBlockIdx()); row < rows_;
         row += cores)
      Row(row);
    Finish();
  }

 private:
  // YOUR TURN: one row. First load its pieces, as many ahead as there are slots; set
  // sums_ to 0, and add up each piece as soon as it has arrived. Drop a piece that does
  // not stay, and load the next one. When the mean is known, centre the pieces that
  // stayed in place, and store them. Then load, centre and store the others again.
  __aicore__ inline void Row(uint32_t row) {
    const uint32_t before = loaded_;  // piece p of the row is in slot (before + p) % 4
    (void)row;
    (void)before;
  }

  // YOUR TURN: add the slot's sums of eight (BlockReduceSum into parts_) to those of
  // the row's other pieces, in sums_. `count` is a multiple of 64.
  __aicore__ inline void AddUp(uint32_t slot, uint32_t count) {
    (void)slot;
    (void)count;
  }

  // The sum of a row as a number: it adds up all sums of eight.
  __aicore__ inline float Sum() {
    AscendC::ReduceSum(sum_, sums_, work_, static_cast<int32_t>(kPiece / 8));
    Sync<AscendC::HardEvent::V_S>();
    return sum_.GetValue(0);
  }

  __aicore__ inline void Centre(uint32_t slot, uint32_t count, float mean) {
    const AscendC::LocalTensor<float> x = slots_[slot * kPiece];
    AscendC::Adds(x, x, -mean, static_cast<int32_t>(count));
  }

  // Floats of a piece.
  __aicore__ inline uint32_t Count(uint32_t piece) const {
    const uint32_t at = piece * kPiece;
    return length_ - at < kPiece ? length_ - at : kPiece;
  }

  // Starts the copy of a piece into the next slot as soon as that is free; its flag
  // MTE2_V says that the piece has arrived. Returns the slot.
  __aicore__ inline uint32_t Load(uint32_t row, uint32_t piece) {
    const uint32_t slot = loaded_++ % kSlots;
    WaitUntilFree(slot);
    AscendC::DataCopy(slots_[slot * kPiece], xGm_[At(row, piece)], Count(piece));
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(slot);
    return slot;
  }

  // V no longer needs the data in the slot: the next copy may start.
  __aicore__ inline void Drop(uint32_t slot) {
    AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(slot);
    dropped_ |= 1u << slot;
  }

  // Copies the slot out to its place in y; the next copy in may start after that.
  __aicore__ inline void Store(uint32_t row, uint32_t piece, uint32_t slot) {
    Sync<AscendC::HardEvent::V_MTE3>();
    AscendC::DataCopy(yGm_[At(row, piece)], slots_[slot * kPiece], Count(piece));
    AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(slot);
    left_ |= 1u << slot;
  }

  __aicore__ inline uint64_t At(uint32_t row, uint32_t piece) const {
    return static_cast<uint64_t>(row) * length_ + piece * kPiece;
  }

  // Only a flag that was set is awaited.
  __aicore__ inline void WaitUntilFree(uint32_t slot) {
    if (dropped_ >> slot & 1) AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(slot);
    if (left_ >> slot & 1) AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(slot);
    dropped_ &= ~(1u << slot);
    left_ &= ~(1u << slot);
  }

  __aicore__ inline void Finish() {
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      WaitUntilFree(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::MTE2_V>(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::V_MTE2>(slot);
      pipe_->ReleaseEventID<AscendC::HardEvent::MTE3_MTE2>(slot);
    }
  }

  // The second pipe of the event waits until the first has done all it was given so
  // far.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> slotsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::LocalTensor<float> slots_;
  AscendC::LocalTensor<float> sums_;   // kPiece / 8 floats: of the row so far
  AscendC::LocalTensor<float> parts_;  // kPiece / 8 floats: of the last piece
  AscendC::LocalTensor<float> work_;   // scratch memory of ReduceSum
  AscendC::LocalTensor<float> sum_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  uint32_t rows_ = 0;
  uint32_t length_ = 0;
  uint32_t pieces_ = 0;   // of a row
  uint32_t loaded_ = 0;   // pieces that were loaded so far, of all rows
  uint32_t dropped_ = 0;  // slots whose flag is set but not yet awaited, as bits
  uint32_t left_ = 0;
};

extern "C" __global__ __aicore__ void slots(GM_ADDR x, GM_ADDR y, uint32_t rows,
                                            uint32_t length) {
  AscendC::TPipe pipe;
  Slots op;
  op.Init(&pipe, x, y, rows, length);
  op.Process();
}
