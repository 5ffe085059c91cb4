"""Every documented refusal of every operator: its code, what its text says, and that nothing was given out.

docs/host-host.md lists them; ``host_cases`` has the rows.
"""

from __future__ import annotations

from typing import Any

import pytest
from host_api_support import GONE, INT32, NULL, View, first_call, refused
from host_cases import CASES

from gn_tutorial import host
from gn_tutorial.host import Code, c_library

ROWS = [(case.name, *row) for case in CASES.values() for row in case.refusals]
NULLS = [(case.name, one) for case in CASES.values() for one in case.null]
GRADIENTS = [(case.name, one) for case in CASES.values() for one in case.gradients]


def test_every_operator_has_a_case() -> None:
    assert set(CASES) == set(c_library.operators()), "a module of tests/support/host_cases for each header"
    for case in CASES.values():
        # Those in front of workspaceSize and executor.
        assert len(case.call) == len(c_library.functions()[f"{case.name}GetWorkspaceSize"].arguments) - 2, case.name
        assert set(case.fuzz.names) <= set(case.call), case.name


@pytest.mark.parametrize(
    ("name", "changed", "code", "text"),
    [(row[0], *row[2:]) for row in ROWS],
    ids=[f"{row[0]}-{row[1]}" for row in ROWS],
)
def test_refusals(name: str, changed: dict[str, Any], code: Code, text: str) -> None:
    refused(name, CASES[name].call, changed, code, text)


@pytest.mark.parametrize("end", ["workspaceSize", "executor"])
@pytest.mark.parametrize("name", CASES)
def test_null_pointers_for_results(name: str, end: str) -> None:
    refused(name, CASES[name].call, {end: NULL}, Code.PARAM_NULLPTR, f"{end} is null")


@pytest.mark.parametrize("name", CASES)
def test_the_tables_change_a_call_that_is_right(name: str) -> None:
    accepted(name, {})


@pytest.mark.parametrize(("name", "missing"), NULLS)
def test_what_may_be_null(name: str, missing: str) -> None:
    accepted(name, {missing: NULL})
    accepted(name, dict.fromkeys(CASES[name].null, NULL))


@pytest.mark.parametrize(("name", "unwanted"), GRADIENTS)
def test_what_the_mask_does_not_ask_for_is_not_looked_at(name: str, unwanted: str) -> None:
    mask = tuple(int(one != unwanted) for one in CASES[name].gradients)
    for value in (NULL, GONE, View((9, 9), INT32)):
        accepted(name, {"outputMask": mask, unwanted: value})


@pytest.mark.parametrize("name", CASES)
def test_an_executor_is_its_operator_s_own(name: str) -> None:
    library, answer = host.library(), first_call(name, CASES[name].call)
    other = next(one for one in CASES if one != name)
    with host.Stream() as stream:
        assert getattr(library, other)(None, 0, answer.executor, stream.handle) == Code.PARAM_INVALID
        assert f"executor was made by {name}GetWorkspaceSize" in library.GnGetRecentErrMsg().decode()
    assert library.GnDestroyExecutor(answer.executor) == Code.SUCCESS


def accepted(name: str, changed: dict[str, Any]) -> None:
    answer = first_call(name, CASES[name].call, **changed)
    assert (answer.status, answer.text) == (Code.SUCCESS, ""), answer
    assert host.library().GnDestroyExecutor(answer.executor) == Code.SUCCESS
