// What the test kernels of one family share: the record a test sends, three buffers, and how they are loaded and stored.
//
// A test fills whole buffers with known bytes, runs one operation and reads the destination buffer back whole, so that it also
// sees what must stay untouched.
#pragma once
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t kBufferBytes = 16 * 1024;

enum Type : int64_t { kInt16, kHalf, kInt32, kFloat, kUint16, kUint32, kBfloat16, kInt8, kUint8, kInt64 };
// Count: the first n elements. Lanes: leading lanes of each repeat. Bits: mask array. Counter: mode COUNT, register set outside.
// Outside: mode NORM, register set outside.
enum Form : int64_t { kCount, kLanes, kBits, kCounter, kOutside };

// Mirrored by twin_support.ASK.
struct Ask {
  int64_t op, type, type2, form;
  int64_t count;
  uint64_t low, high;  // mask: low is also the number of lanes
  int64_t repeat;
  int64_t dst_blk, src0_blk, src1_blk, dst_rep, src0_rep, src1_rep;
  uint64_t scalar;  // bits of the scalar operand
  int64_t mode;     // rounding mode, comparison, order ...
  int64_t flag;
  int64_t extra[4];

  template <class T>
  __aicore__ T Scalar() const {
    T value;
    __builtin_memcpy(&value, &scalar, sizeof(T));
    return value;
  }
  __aicore__ UnaryRepeatParams Unary() const {
    return UnaryRepeatParams(static_cast<uint16_t>(dst_blk), static_cast<uint16_t>(src0_blk),
                             static_cast<uint8_t>(dst_rep), static_cast<uint8_t>(src0_rep));
  }
  __aicore__ BinaryRepeatParams Binary() const {
    return BinaryRepeatParams(static_cast<uint8_t>(dst_blk), static_cast<uint8_t>(src0_blk),
                              static_cast<uint8_t>(src1_blk), static_cast<uint8_t>(dst_rep),
                              static_cast<uint8_t>(src0_rep), static_cast<uint8_t>(src1_rep));
  }
};

class Bench {
 public:
  __aicore__ Bench(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address)
      : ask(*reinterpret_cast<__gm__ Ask*>(ask_address)), dst_(dst) {
    pipe.InitBuffer(buffer_[0], kBufferBytes);
    pipe.InitBuffer(buffer_[1], kBufferBytes);
    pipe.InitBuffer(buffer_[2], kBufferBytes);
    Load(buffer_[0], dst);
    Load(buffer_[1], src0);
    Load(buffer_[2], src1);
    PipeBarrier<PIPE_ALL>();
  }
  __aicore__ void Store() {
    PipeBarrier<PIPE_ALL>();
    GlobalTensor<uint8_t> out;
    out.SetGlobalBuffer(dst_, kBufferBytes);
    DataCopy(out, buffer_[0].Get<uint8_t>(), kBufferBytes);
  }
  template <class T>
  __aicore__ LocalTensor<T> Dst() {
    return buffer_[0].Get<T>();
  }
  template <class T>
  __aicore__ LocalTensor<T> Src0() {
    return buffer_[1].Get<T>();
  }
  template <class T>
  __aicore__ LocalTensor<T> Src1() {
    return buffer_[2].Get<T>();
  }

  TPipe pipe;
  const Ask& ask;

 private:
  __aicore__ void Load(TBuf<TPosition::VECCALC>& buffer, GM_ADDR address) {
    GlobalTensor<uint8_t> in;
    in.SetGlobalBuffer(address, kBufferBytes);
    DataCopy(buffer.Get<uint8_t>(), in, kBufferBytes);
  }

  GM_ADDR dst_;
  TBuf<TPosition::VECCALC> buffer_[3];
};

// The register as a kernel sets it for calls with isSetMask = false.
template <class T>
__aicore__ void OutsideMask(const Ask& ask) {
  if (ask.form == kCounter) {
    SetMaskCount();
    SetVectorMask<T, MaskMode::COUNTER>(0, static_cast<uint64_t>(ask.count));
  } else {
    SetVectorMask<T, MaskMode::NORMAL>(ask.high, ask.low);
  }
}

// Runs CALL(set, mask) in the form the test asks for: `set` is the template argument isSetMask, `mask` the mask argument. COUNT is the
// count form's statement. T sets the width of the mask register's elements.
#define RUN_FORM(T, COUNT, CALL)                                    \
  switch (ask.form) {                                               \
    case kCount: COUNT; break;                                      \
    case kLanes: CALL(true, static_cast<uint64_t>(ask.low)); break; \
    case kBits: {                                                   \
      uint64_t bits[2] = {ask.low, ask.high};                       \
      CALL(true, bits);                                             \
      break;                                                        \
    }                                                               \
    case kCounter:                                                  \
    case kOutside:                                                  \
      OutsideMask<T>(ask);                                          \
      CALL(false, MASK_PLACEHOLDER);                                \
      SetMaskNorm();                                                \
      ResetMask();                                                  \
      break;                                                        \
  }
