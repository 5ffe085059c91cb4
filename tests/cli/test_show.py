"""``gnt show``: the source of a kernel, and its tiling."""

from __future__ import annotations

from command_line import Gnt

from gn_tutorial.operators import registry


def test_show_prints_the_source(gnt: Gnt) -> None:
    path = registry.find_kernel("copy")[1].file
    shown = gnt("show", "copy")
    assert shown.out == f"// {path}\n{path.read_text()}"
    facts = gnt("show", "copy", "--json").json
    assert facts["entries"][0]["name"] == "copy_kernel"
    assert facts["file"] == str(path)


def test_show_tiling(gnt: Gnt) -> None:
    words = ("show", "group_norm/scalar", "--tiling", "--shape", "3,6,10", "--groups", 2, "--blocks", 4)
    assert "usedCores" in gnt(*words).out
    facts = gnt(*words, "--json").json
    assert facts["struct"] == "GroupNormTilingData"
    assert facts["fields"]["usedCores"] <= 4
