"""``gnt tune`` of a learner's file and of an operator project; of registered kernels it is in tests/profiler/bench."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.operators import registry

PROJECT = Path(__file__).parents[1] / "programs" / "projects" / "scale_shift"
TILED = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void tiled(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t tile) {
  AscendC::TPipe pipe;
  AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 2> queue;
  pipe.InitBuffer(queue, 2, tile * sizeof(float));
  AscendC::GlobalTensor<float> from, to;
  from.SetGlobalBuffer((__gm__ float*)x, n);
  to.SetGlobalBuffer((__gm__ float*)y, n);
  for (uint32_t at = AscendC::GetBlockIdx() * tile; at < n; at += AscendC::GetBlockNum() * tile) {
    const uint32_t bytes = (n - at < tile ? n - at : tile) * sizeof(float);
    auto part = queue.AllocTensor<float>();
    AscendC::DataCopyPad(part, from[at], {1, bytes, 0, 0, 0}, {false, 0, 0, 0.0f});
    queue.EnQue(part);
    part = queue.DeQue<float>();
    AscendC::DataCopyPad(to[at], part, {1, bytes, 0, 0, 0});
    queue.FreeTensor(part);
  }
}
"""


@pytest.fixture
def tiled(tmp_path: Path) -> Path:
    """A copy whose tile is a number that it is given."""
    path = tmp_path / "tiled.cpp"
    path.write_text(TILED)
    return path


def test_a_number_of_a_file_has_a_best_value(gnt: Gnt, tiled: Path) -> None:
    words = ("tune", tiled, "--arg", "x=float32[50001]", "--arg", "n=50001", "--arg", "tile=64")
    found = gnt(*words, "--out", "y=float32[50001]", "--field", "tile", "--values", "2048,60000", "--json").json
    own, larger, refused = found["candidates"]
    assert (found["host"], found["best"], found["case"]) == (64, 2048, "n=50001")
    assert own["modelled_us"] > larger["modelled_us"] > found["bound_us"] > 0.0
    assert (own["status"], refused["status"], refused["note"]) == ("ok", "refused", "ub-overflow")
    assert larger["tiling"] == {"tile": 2048}


def test_a_value_that_changes_the_numbers_is_wrong(gnt: Gnt, tiled: Path) -> None:
    words = ("tune", tiled, "--arg", "x=float32[5000]", "--arg", "n=5000", "--arg", "tile=64")
    found = gnt(*words, "--inout", "y=float32[5000]", "--field", "n", "--values", "4000", "--json").json
    status = {one["value"]: one["status"] for one in found["candidates"]}
    assert status == {4000: "wrong", 5000: "ok"}


def test_a_field_of_a_project_is_changed_behind_its_tiling_function(gnt: Gnt) -> None:
    words = ("tune", PROJECT, "--in", "float16[8,2048]", "--field", "tileLength")
    found = gnt(*words, "--values", "64,65536", "--json").json
    status = {one["value"]: one["status"] for one in found["candidates"]}
    assert status == {64: "ok", found["host"]: "ok", 65536: "refused"}
    assert found["candidates"][0]["tiling"]["tileLength"] == 64
    assert found["candidates"][0]["tiling"]["length"] == 16384
    assert f"the host function chooses {found['host']}" in gnt(*words, "--values", "64").out


def test_a_file_takes_the_struct_of_the_kernel_that_it_is_like(gnt: Gnt, tmp_path: Path) -> None:
    mine = registry.kernels_root() / "group_norm" / "group_norm_2_tiled.cpp"
    words = ("--shape", "1,2,30,40", "--groups", "1", "--values", "640", "--json")
    here = gnt("tune", mine, "--like", "group_norm/tiled", *words).json
    there = gnt("tune", "group_norm/tiled", *words).json
    assert here["kernel"] == mine.stem
    assert here["candidates"] == there["candidates"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tiled.cpp", "--arg", "x=float32[8]"), "--field is missing"),
        (("tiled.cpp", "--arg", "tile=512", "--field", "n"), "--field: one of tile"),
        (("tiled.cpp", "--arg", "x=float32[8]", "--field", "n"), "--arg tile=512 gives one"),
        (("tiled.cpp", "--shape", "8", "--field", "n"), "--shape does not apply"),
        (("tiled.cpp", "--arg", "n=8", "--field", "n", "--values", "0"), "n cannot be 0"),
        ((PROJECT, "--in", "float16[8]", "--field", "beta"), "fields: length, blockLength, tileLength"),
        ((PROJECT, "--in", "float16[8]"), "gnt project tiling lists them"),
        (("add", "--arg", "n=3"), "--arg does not apply"),
        (("group_norm/tiled", "--like", "add"), "--like belongs to a file"),
    ],
)
def test_what_cannot_be_tuned(
    gnt: Gnt, tiled: Path, monkeypatch: pytest.MonkeyPatch, words: tuple, message: str
) -> None:
    monkeypatch.chdir(tiled.parent)
    ran = gnt("tune", *words)
    assert ran.code == 2
    assert message in ran.err
