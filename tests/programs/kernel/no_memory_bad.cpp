// A kernel has no heap; on the twin it may not exhaust this machine's.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void kernel_no_memory_bad(GM_ADDR x, GM_ADDR y) {
  PipeBarrier<PIPE_ALL>();  // expect: kernel-no-memory
  const uint64_t bytes = uint64_t{1} << 62;
  delete[] new uint8_t[bytes + GetBlockIdx()];  // also: language-heap
}
