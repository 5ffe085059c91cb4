// Goes through `steps` steps (what, a, b, n, m). a: an element of local memory, b: of global memory.
// Used by tests/twin/test_fast_events.py, which has a name for each `what`.
#include "kernel_operator.h"
using namespace AscendC;

// Rows and gaps from one number: 1 to 3 rows, then the gap in local memory (0 to 2 blocks), then that in global memory.
__aicore__ inline uint16_t RowsOf(uint32_t m) { return static_cast<uint16_t>(m % 4); }
__aicore__ inline uint16_t NearGap(uint32_t m) { return static_cast<uint16_t>(m / 4 % 3); }
__aicore__ inline uint16_t FarGap(uint32_t m) { return static_cast<uint16_t>(m / 12 % 3); }

extern "C" __global__ __aicore__ void copies(GM_ADDR program, GM_ADDR x, GM_ADDR y, uint32_t steps) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TQue<QuePosition::VECIN, 1> queue;
  pipe.InitBuffer(buffer, 8192);
  pipe.InitBuffer(queue, 1, 1024);
  LocalTensor<float> t = buffer.Get<float>();
  LocalTensor<float> q;
  GlobalTensor<float> xGm, yGm, odd, declared;
  xGm.SetGlobalBuffer((__gm__ float*)x, 1024);
  yGm.SetGlobalBuffer((__gm__ float*)y, 1024);
  odd.SetGlobalBuffer((__gm__ float*)(x + 2), 1023);
  declared.SetGlobalBuffer((__gm__ float*)x, 64);
  bool holds = false;
  const int32_t* word = (__gm__ int32_t*)program;
  for (uint32_t i = 0; i < steps; ++i, word += 5) {
    const uint32_t a = word[1], b = word[2], n = word[3], m = word[4];
    const uint32_t whole = (n + 7) / 8 * 8;
    const uint16_t blocks = static_cast<uint16_t>(n / 8);
    const uint8_t side = static_cast<uint8_t>(m / 36 % 3 * 5);
    switch (word[0]) {
      case 0: DataCopy(t[a], xGm[b], whole); break;
      case 1: DataCopy(yGm[b], t[a], whole); break;
      case 2: DataCopy(t[a], xGm[b], DataCopyParams(RowsOf(m), blocks, FarGap(m), NearGap(m))); break;
      case 3: DataCopy(yGm[b], t[a], DataCopyParams(RowsOf(m), blocks, NearGap(m), FarGap(m))); break;
      case 4: {
        const DataCopyExtParams rows(RowsOf(m), n * 4, FarGap(m) * 12, NearGap(m), 0);
        DataCopyPad(t[a], xGm[b], rows, {m % 2 == 0, side, side, 0.5f});
        break;
      }
      case 5: DataCopyPad(yGm[b], t[a], DataCopyExtParams(RowsOf(m), n * 4, NearGap(m), FarGap(m) * 12, 0)); break;
      case 6: if (m % 2 == 0) SetAtomicAdd<float>(); else SetAtomicNone(); break;
      case 7: if (yGm.GetValue(b) == 12345.0f) return; break;
      case 8: yGm.SetValue(b, 2.0f); break;
      case 9: DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(yGm); break;
      case 10: DataCopy(t[a], yGm[b], whole); break;
      case 11: pipe_barrier(PIPE_ALL); break;
      case 12: set_flag(PIPE_MTE2, PIPE_MTE3, 0); wait_flag(PIPE_MTE2, PIPE_MTE3, 0); break;
      case 13: set_flag(PIPE_MTE3, PIPE_MTE2, 0); wait_flag(PIPE_MTE3, PIPE_MTE2, 0); break;
      case 14: pipe_barrier(PIPE_MTE2); break;
      case 15: Muls(t[a], t[b], 0.5f, n); break;
      case 16: if (t.GetValue(a) == 12345.0f) return; break;
      case 17: t.SetValue(a, 2.0f); break;
      case 18: if (!holds) { q = queue.AllocTensor<float>(); holds = true; } break;
      case 19: if (holds) { queue.FreeTensor(q); holds = false; } break;
      case 20: DataCopy(q, xGm[b], n % 32 * 8); break;
      case 21: DataCopy(yGm[b], q, n % 32 * 8); break;
      case 22: DataCopy(t[a], odd[b], whole); break;
      case 23: DataCopy(t[a], declared[b], whole); break;
      case 24: { LocalTensor<float> s = t[a]; s.SetSize(m); DataCopy(s, xGm[b], whole); break; }
      case 25: {
        const DataCopyExtParams row(1, n * 8, 0, 0, 0);
        GlobalTensor<int64_t> wide;
        wide.SetGlobalBuffer((__gm__ int64_t*)x, 512);
        DataCopyPad(t[a].ReinterpretCast<int64_t>(), wide, row, {m % 2 == 0, 0, 0, int64_t{m} / 2});
        break;
      }
      case 26: DataCopyPad(t[a], xGm[b], DataCopyExtParams(1, n, 0, 0, 0), {false, 0, 0, 0.0f}); break;
      case 27: SyncAll(); break;
      case 28: DataCopy(yGm[b], t[a], DataCopyParams(m == 0 ? 4095 : 4096, 0, 0, 0)); break;
      case 29: q.SetValue(a, 2.0f); break;
      case 30: if (q.GetValue(a) == 12345.0f) return; break;
      case 31: if (m == 0) DataCopy(t[a], xGm[b], 8); else DataCopyPad(t[a], xGm[b], {1, 32, 0, 0, 0}, {}); break;
    }
  }
  if (holds) queue.FreeTensor(q);
}
