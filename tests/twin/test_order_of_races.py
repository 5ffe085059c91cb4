"""The order in which races between blocks are found does not depend on how a C library's qsort orders ties."""

from __future__ import annotations

import ctypes

import numpy as np

from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.compiler.build_request import TWIN_INCLUDE

# Runs that begin at few addresses, swept with two sorts: one keeps what compares equal in order, one turns it round.
SOURCE = """
#include <stdlib.h>
#include <string.h>
static bool turned;
static void SortEitherWay(void* data, size_t count, size_t bytes, int (*compare)(const void*, const void*)) {
  unsigned char* const at = static_cast<unsigned char*>(data);
  unsigned char one[256];
  for (size_t i = 1; i < count; ++i) {
    memcpy(one, at + i * bytes, bytes);
    size_t j = i;
    for (; j > 0; --j) {
      const int order = compare(at + (j - 1) * bytes, one);
      if (order < 0 || (order == 0 && !turned)) break;
      memcpy(at + j * bytes, at + (j - 1) * bytes, bytes);
    }
    memcpy(at + j * bytes, one, bytes);
  }
}
#define qsort SortEitherWay
#include "gn_twin/shadow/block_accesses.h"
using namespace gn_twin;

extern "C" __attribute__((visibility("default")))
uint32_t races(const uint32_t* runs, uint32_t count, bool turn, uint32_t* found) {
  turned = turn;
  BlockAccesses accesses(8);
  for (uint32_t i = 0; i < count; ++i, runs += 3) {
    SharedRun run;
    run.rows = RowSet::Of(4096 + 64 * runs[1], 64, 64, 1);
    run.block = runs[0];
    run.site = i;
    run.use = runs[2] != 0 ? Use::Write : Use::Read;
    run.interval = 0;
    accesses.Add(run);
  }
  uint32_t told = 0;
  accesses.Sweep([&](const SharedRun& run, const SharedRun& other, uintptr_t) {
    found[told++] = run.site;
    found[told++] = other.site;
  });
  return told;
}
"""


def test_ties_do_not_decide_which_race_is_found() -> None:
    library = ctypes.CDLL(str(build_host_library(SOURCE, include_dirs=(TWIN_INCLUDE,)).library))
    rng = np.random.default_rng(3)
    for _ in range(20):
        count = 40
        runs = np.stack([rng.integers(0, 8, count), rng.integers(0, 3, count), rng.integers(0, 2, count)], axis=1)
        runs = np.ascontiguousarray(runs, np.uint32)
        told = []
        for turn in (False, True):
            found = np.zeros(2 * count * count, np.uint32)
            used = library.races(
                runs.ctypes.data_as(ctypes.c_void_p), count, ctypes.c_bool(turn), found.ctypes.data_as(ctypes.c_void_p)
            )
            told.append(found[:used].tolist())
        assert told[0] == told[1]
        assert len(told[0]) > 100
