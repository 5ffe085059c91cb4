"""``gnt explain``: pages and lists of the catalogue."""

from __future__ import annotations

from command_line import Gnt

from gn_tutorial.operators import registry


def test_explain(gnt: Gnt) -> None:
    page = gnt("explain", "ub-out-of-bounds")
    assert page.out == (registry.kernels_root().parent / "docs/diagnostics/ub-out-of-bounds.md").read_text()
    facts = gnt("explain", "UB_out_of_bounds", "--json").json
    assert facts["family"] == "Unified Buffer"
    assert facts["page"] == page.out
    assert "Wrong numbers in the tail" in facts["symptoms"]
    listed = gnt("explain").out
    assert "The kernel hangs" in listed
    assert all(row["id"] in listed for row in gnt("explain", "--json").json)
    unknown = gnt("explain", "ub-outofbounds")
    assert (unknown.code, unknown.out) == (2, "")
    assert "did you mean ub-out-of-bounds" in unknown.err
