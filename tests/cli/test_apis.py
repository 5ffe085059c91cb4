"""The list of APIs, as shipped and as parsed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.cli.api_page import cost_rows
from gn_tutorial.cli.api_table import Api, load_apis, matching
from gn_tutorial.errors import RegistryError
from gn_tutorial.timing.machine import load_machine

TABLE = """\
[DataCopy]
rank = 2
forms = ["count", "repeat"]
dtypes = ["float", "half"]
doc = "copies"
[Add]
rank = 1
forms = ["count"]
[Fill]
[unsupported]
functions = ["TopK"]
[unsupported.types]
Sort = "class T"
"""


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    (tmp_path / "apis.toml").write_text(TABLE)
    return tmp_path


def test_supported_names_come_by_rank_and_then_the_rejected_ones(twin: Path) -> None:
    found = load_apis(twin)
    assert [(api.name, api.supported) for api in found] == [
        ("Add", True),
        ("DataCopy", True),
        ("Fill", True),
        ("Sort", False),
        ("TopK", False),
    ]
    assert found[1] == Api("DataCopy", True, 2, ("count", "repeat"), ("float", "half"), "copies")
    assert found[0].forms == ("count",)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("", 5), ("copy", ["DataCopy"]), ("*o*", ["DataCopy", "Sort", "TopK"]), ("?dd", ["Add"]), ("zzz", [])],
)
def test_pattern_is_part_of_a_name_or_has_wildcards(twin: Path, pattern: str, names: list[str] | int) -> None:
    found = [api.name for api in matching(load_apis(twin), pattern)]
    assert len(found) == names if isinstance(names, int) else found == names


def test_unreadable_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="cannot read the list of APIs"):
        load_apis(tmp_path)


def test_a_key_that_no_api_has_is_named_with_its_table(twin: Path) -> None:
    (twin / "apis.toml").write_text(TABLE.replace("rank = 1", "rnak = 1"))
    with pytest.raises(RegistryError, match=r"'rnak' is not a key of an api\n.*apis.toml \[Add\]\n.*'rank'"):
        load_apis(twin)


def test_shipped_list_has_what_the_first_kernels_use() -> None:
    have = {api.name for api in load_apis() if api.supported}
    assert {"DataCopyPad", "Add", "GetBlockIdx"} <= have
    assert any(not api.supported for api in load_apis())


def test_apis(gnt: Gnt) -> None:
    found = gnt("apis", "DataCopyPad", "--json").json
    assert found[0]["name"] == "DataCopyPad"
    assert found[0]["supported"] is True
    assert "DataCopyPad" in gnt("apis", "datacop").out


def test_a_whole_name_has_its_forms_and_its_cost(gnt: Gnt) -> None:
    shown = gnt("apis", "muls").out
    assert "void Muls(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, " in shown
    cost = load_machine().instruction("Muls")
    cycles = cost.startup + load_machine().vector_fixed + 16 * cost.slope
    assert f"16 repeats, {cycles:g} cycles" in shown
    assert "other names with 'muls'" not in shown


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Exp", "of two bytes"),  # other slopes for half
        ("Broadcast", "高阶API"),  # as it is written: there is a BroadCast
        ("EnQue", "TQue::EnQue"),  # a member, without its class
        ("DataCopy", "mte2_bytes_per_cycle"),
        ("SetFlag", "flag"),
        ("Sinh", "nobody measured it"),
        ("GetBlockIdx", "none of its own"),
        ("GET_TILING_DATA", "GET_TILING_DATA(NAME, POINTER);"),
    ],
)
def test_costs_say_whose_they_are(gnt: Gnt, name: str, said: str) -> None:
    assert said in gnt("apis", name).out


def test_costs_are_those_of_the_machine(gnt: Gnt) -> None:
    cost = {name: gnt("apis", "Add", "--machine", name, "--json").json[0]["cost"] for name in ("910B2", "910B4")}
    assert cost["910B2"][0] == cost["910B4"][0]
    assert cost["910B2"][1] != cost["910B4"][1]


def test_every_cost_names_a_constant_that_is_there() -> None:
    for api in load_apis():
        cost_rows(api, load_machine())
