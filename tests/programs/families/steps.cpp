// Goes through `steps` steps (what, a, b, c, n). a, b, c: elements of a tensor of 1024 floats, or which flag.
// Used by tests/twin/test_cached_calls.py, which has a name for each `what`.
#include "kernel_operator.h"
using namespace AscendC;
// Repeats, or blocks, of each operand in the same place, next to each other or with a gap.
__aicore__ inline BinaryRepeatParams RepeatStrides(uint32_t n) {
  return {1, 1, 1, uint8_t(n % 3 * 8), uint8_t(n / 3 % 3 * 8), uint8_t(n / 9 % 3 * 8)};
}
__aicore__ inline BinaryRepeatParams BlockStrides(uint32_t n) {
  return {uint8_t(n % 3), uint8_t(n / 3 % 3), uint8_t(n / 9 % 3), 8, 8, 8};
}
extern "C" __global__ __aicore__ void again(GM_ADDR program, GM_ADDR x, GM_ADDR y, uint32_t steps) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer, offsetBuffer;
  TQue<QuePosition::VECOUT, 1> queue;
  pipe.InitBuffer(buffer, 4096);
  pipe.InitBuffer(queue, 1, 1024);
  pipe.InitBuffer(offsetBuffer, 512);
  LocalTensor<float> t = buffer.Get<float>();
  LocalTensor<uint32_t> offsets = offsetBuffer.Get<uint32_t>();
  for (uint32_t i = 0; i < 128; ++i) offsets.SetValue(i, 4 * i);
  LocalTensor<half> h = t.ReinterpretCast<half>();
  LocalTensor<float> q;
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, 1024);
  yGm.SetGlobalBuffer((__gm__ float*)y, 1024);
  bool holds = false;
  constexpr pipe_t kCopies[] = {PIPE_MTE2, PIPE_MTE3};
  uint64_t bits[2][2] = {{0x0f0f, 0}, {~uint64_t{0}, ~uint64_t{0}}};
  const int32_t* word = (__gm__ int32_t*)program;
  for (uint32_t i = 0; i < steps; ++i, word += 5) {
    const uint32_t a = word[1], b = word[2], c = word[3], n = word[4];
    switch (word[0]) {
      case 0: Add(t[a], t[b], t[c], n); break;
      case 1: Muls(t[a], t[b], 0.5f, n); break;
      case 2: Duplicate(t[a], 0.25f, n); break;
      case 3: Mul(t[a].ReinterpretCast<half>(), t[b].ReinterpretCast<half>(), t[c].ReinterpretCast<half>(), n); break;
      case 4: DataCopy(t[a], xGm[b], (n + 7) / 8 * 8); break;
      case 5: DataCopy(yGm[b], t[a], (n + 7) / 8 * 8); break;
      case 6: set_flag(PIPE_V, kCopies[a % 2], 0); wait_flag(PIPE_V, kCopies[a % 2], 0); break;
      case 7: set_flag(kCopies[a % 2], PIPE_V, 1); wait_flag(kCopies[a % 2], PIPE_V, 1); break;
      case 8: pipe_barrier(PIPE_ALL); break;
      case 9: if (t.GetValue(a) == 12345.0f) return; break;
      case 10: t.SetValue(a, 2.0f); break;
      case 11: if (!holds) { q = queue.AllocTensor<float>(); holds = true; } break;
      case 12: if (holds) { queue.FreeTensor(q); holds = false; } break;
      case 13: Add(q, t[b], t[c], n % 256); break;
      case 14: Muls(t[a], q, 0.5f, n % 256); break;
      case 15: pipe_barrier(PIPE_V); break;
      case 16: Add(t[a], t[b], t[c], n % 64 + 1, n % 3 + 1, {1, 1, 1, 8, 8, uint8_t(n / 64 % 2 * 8)}); break;
      case 17: Muls(t[a], t[b], 0.5f, bits[n % 2], n % 3 + 1, {1, static_cast<uint16_t>(n % 2 + 1), 8, 8}); break;
      case 18: Duplicate(t[a], 0.25f, uint64_t{64}, n % 3 + 1, 1, n % 2 * 8); break;
      case 19: ReduceSum(t[a], t[b], t[c], n); break;
      case 20: WholeReduceSum(t[a], t[b], 8 * (n % 8 + 1), n % 5 + 1, 1 + n % 2, 1, n % 8 + 1); break;
      case 21: BlockReduceSum(t[a], t[b], n % 5 + 1, 64, 1, 1, 8); break;
      case 22: Sub(q, t[b], t[c], uint64_t{64}, n % 4 + 1, {1, 1, 1, 8, 8, 8}); break;
      case 23: { LocalTensor<float> s = t[a]; s.SetSize(n); Adds(s, t[b], 2.0f, 64); break; }
      case 24: { LocalTensor<float> s = t[a]; s.SetSize(n); Adds(s, t[b], 2.0f, uint64_t{64}, 1, {1, 1, 8, 8}); break; }
      case 25: Brcb(t[a], t[b], n % 3 + 1, {1, 8}); break;
      case 26: DataCopy(t[a], t[b], (n + 7) / 8 * 8); break;
      case 27: ReduceMax(t[a], t[b], t[c], n, n % 2 == 0); break;
      case 28: CompareScalar(t[a].ReinterpretCast<uint8_t>(), t[b], 0.5f, CMPMODE::GT, (n + 63) / 64 * 64); break;
      case 29: Select(t[a], t[b].ReinterpretCast<uint8_t>(), t[c], 0.5f, SELMODE::VSEL_TENSOR_SCALAR_MODE, n); break;
      case 30: CreateVecIndex(t[a], 0.0f, n); break;
      case 31: DataCopy(t[a], t[b], DataCopyParams(n % 3 + 1, 4, n % 2, n % 5 * 2)); break;
      case 32: { LocalTensor<float> s = t[a]; s.SetSize(n); CreateVecIndex(s, 0.0f, 64); break; }
      case 33: ReduceMax(t[a], t[b], q, n, false); break;
      case 34:
        if (n >= 256) SetMaskCount();
        Add(t[a], t[b], t[c], uint64_t{64}, n % 4 + 1, RepeatStrides(n / 4 % 64));
        SetMaskNorm();
        break;
      case 35: Gather(t[a], t[b], offsets, n / 128 * 32, n % 128 + 1); break;
      case 36: offsets.SetValue(a % 128, 4 * b); break;
      case 37: { LocalTensor<float> s = t[b]; s.SetSize(n); Gather(t[a], s, offsets, c, 64); break; }
      case 38: Add(t[a], t[b], t[c], uint64_t{32}, n % 4 + 1, BlockStrides(n / 4)); break;
      case 39: {
        const uint64_t last = n % 63 + 1;
        if (c == 0) { SetMaskCount(); SetVectorMask<float, MaskMode::COUNTER>(0, 64 + last); }
        if (c != 0) SetVectorMask<float, MaskMode::NORMAL>(0, (uint64_t{1} << last) - 1);
        Adds<float, false>(t[a], t[b], 2.0f, MASK_PLACEHOLDER, 2, {1, 1, 2, 2});
        SetMaskNorm();
        ResetMask();
        break;
      }
      case 40: Adds(t[a], t[b], 2.0f, uint64_t{16}, 1, {1, uint16_t(n), 8, uint8_t(c)}); break;
      case 41: if (c == 0) Muls(t[a], t[b], 0.5f, n); else Muls(h[2 * a], h[2 * b], half(0.5f), n); break;
      case 42:
        SetVectorMask<float>(0, 0xff);
        Add(t[a], t[b], t[c], uint64_t{64}, n % 4 + 1, {1, 1, 1, 8, 8, 8});
        Adds<float, false>(t[a], t[a], 2.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
        ResetMask();
        break;
      case 43: Gather(t[a], q, offsets, 0, n % 128 + 1); break;
      case 44: Gather(t[a], t[b], offsets, 0, uint64_t{64}, 2, 8 + n % 3); break;
      case 45: Adds(q, t[b], 2.0f, uint64_t{12}, 2, {1, 1, 8, 8}); break;
      case 46: Muls(t[a], q, 0.5f, uint64_t{n % 16 + 1}, 2, {1, 1, 8, 8}); break;
      case 47: { uint64_t mask[2] = {5 * uint64_t{n}, 0}; Adds(t[a], t[b], 2.0f, mask, 2, {1, 1, 8, 8}); break; }
    }
  }
  if (holds) queue.FreeTensor(q);
}
