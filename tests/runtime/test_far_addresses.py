"""Addresses of arrays: far from everything else if the system gives them, else between addresses without rights."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.compiler.build_request import TWIN_INCLUDE

SOURCE = """
#include <fcntl.h>
#include <unistd.h>
#include "gn_twin/base/far_addresses.h"
using gn_twin::FarAddresses;
constexpr int kRights = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANON;

bool Readable(const uint8_t* at) {  // write() fails with EFAULT if it is not
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool read = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return read;
}

// Maps an array where another one lies if `taken`. Returns its distance from the first array, negative if there is a
// mistake.
extern "C" int64_t map_two(uint64_t arrays, int taken, uint64_t* around) {
  const FarAddresses far(arrays);
  const auto first = far.Map(0, 0, 8192, kRights, kFlags);
  const auto second = far.Map(taken ? 0 : 1, taken ? 0 : 8192, 8192, kRights, kFlags);
  if (first.at == nullptr || second.at == nullptr) return -1;
  first.at[0] = second.at[8191] = 1;
  const auto apart = second.at > first.at ? second.at - first.at : first.at - second.at;
  const uint64_t over = reinterpret_cast<uintptr_t>(second.at) % FarAddresses::kHugePage;
  bool good = second.at[0] == 0 && over == (taken ? 0 : 8192);
  for (const auto& one : {first, second}) {
    constexpr uint64_t kLeast = FarAddresses::kLeastAround;
    good = good && Readable(one.at) && Readable(one.at + 8191);
    good = good && !Readable(one.at - 1) && !Readable(one.at - kLeast);
    good = good && !Readable(one.at + 8192) && !Readable(one.at + 8191 + kLeast);
  }
  FarAddresses::Unmap(first.at, 8192);
  FarAddresses::Unmap(second.at, 8192);
  *around = second.around;
  return !good || Readable(first.at) || Readable(second.at) ? -2 : apart;
}
"""
MapTwo = Callable[[int, int], tuple[int, int]]


@pytest.fixture(scope="module")
def map_two() -> MapTwo:
    source = f"#include <initializer_list>\n{SOURCE}"
    function = ctypes.CDLL(str(build_host_library(source, include_dirs=[TWIN_INCLUDE]).library)).map_two
    function.argtypes = (ctypes.c_uint64, ctypes.c_int, ctypes.POINTER(ctypes.c_uint64))
    function.restype = ctypes.c_int64

    def call(arrays: int, taken: int) -> tuple[int, int]:
        around = ctypes.c_uint64()
        return function(arrays, taken, around), around.value

    return call


@pytest.mark.parametrize(("arrays", "gib"), [(2, 1024), (32, 1024), (256, 128)])
def test_arrays_lie_far_apart(map_two: MapTwo, arrays: int, gib: int) -> None:
    assert map_two(arrays, 0) == ((gib << 30) + 8192, gib << 29)


def test_without_far_addresses_an_array_has_some_on_each_side(map_two: MapTwo) -> None:
    apart, around = map_two(2, 1)
    assert apart > 0
    assert around == 256 * 1024
