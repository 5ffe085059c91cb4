// Every block calls SyncAll.
// blocks: 3
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void sync_deadlock_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  if (GetBlockIdx() >= 2) return;
  SyncAll();  // expect: sync-all-deadlock
}
