// Adds the same 4096 floats a thousand times, with operands where the caller puts them: what a bank conflict costs.
//
// The timeline should show the vector unit busy without a gap, 86 cycles for each Add whose operands do not meet in a bank.
#include "kernel_operator.h"

constexpr uint32_t kFloats = 4096;
constexpr uint32_t kTimes = 1000;
constexpr uint8_t kRepeats = 64;
constexpr uint64_t kLanes = 64;

// src0, src1, dst: byte addresses in the Unified Buffer. blk_stride, rep_stride: of src0; the others take 1 and 8.
extern "C" __global__ __aicore__ void bank_conflicts(GM_ADDR result, uint32_t src0, uint32_t src1, uint32_t dst,
                                                     uint32_t blk_stride, uint32_t rep_stride) {
  AscendC::LocalTensor<float> a(AscendC::TPosition::VECCALC, src0, kFloats);
  AscendC::LocalTensor<float> b(AscendC::TPosition::VECCALC, src1, kFloats);
  AscendC::LocalTensor<float> c(AscendC::TPosition::VECCALC, dst, kFloats);
  // Zeros: an operand that is also the result then stays what it is.
  AscendC::Duplicate(a, 0.0f, static_cast<int32_t>(kFloats));
  AscendC::Duplicate(b, 0.0f, static_cast<int32_t>(kFloats));
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::BinaryRepeatParams strides(1, static_cast<uint8_t>(blk_stride), 1, 8, static_cast<uint8_t>(rep_stride), 8);
  for (uint32_t i = 0; i < kTimes; ++i) AscendC::Add(c, a, b, kLanes, kRepeats, strides);
  AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
  AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
  AscendC::GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(result), kFloats);
  AscendC::DataCopy(out, c, kFloats);
}
