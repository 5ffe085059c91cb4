"""Operators of ops-nn tile as their own unit tests expect: key, and block count where they say it, for the chip 910B.

The tests are read as text (tests/support/unit_test_cases.py) from the folder that GNT_PUBLIC_CODE names, as ``nn``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from public_code import needs, public_code
from unit_test_cases import TilingCase, read_cases

import gn_tutorial as gnt
from gn_tutorial.projects.chips import find_soc
from gn_tutorial.projects.host_call import HostRequest, call_host
from gn_tutorial.projects.project import Project

NORM = public_code("nn", "norm")
pytestmark = needs(NORM)

# PlatformAscendC keeps so much of Ascend910B's unified buffer; the unit tests' platform has no name and keeps none.
RESERVED_BYTES = 256


# Operators whose host files stand in their own folder, for this chip.
OPERATORS = (
    "group_norm_silu",
    "rms_norm",
    "ada_layer_norm",
    "ada_layer_norm_grad",
    "add_layer_norm_grad",
    "add_rms_norm",
    "dua_quantize_add_layer_norm",
)


def files(operator: str) -> list[Path]:
    found = sorted((NORM / operator).glob("tests/ut/op_host/**/test_*tiling*.cpp"))
    return [one for one in found if "arch35" not in one.parts]


def differences(project: Project, case: TilingCase) -> list[str]:
    soc = structs.replace(find_soc("Ascend910B2"), vector_cores=case.cores, ub_bytes=case.ub_bytes + RESERVED_BYTES)
    request = HostRequest(
        op_type=case.op,
        soc=soc,
        inputs=case.inputs,
        outputs=case.outputs,
        attributes=case.attributes,
        declared_inputs=case.declared,
    )
    tiling = call_host(project.host.library.path(), request, project.layout.hosts).facts["tiling"]
    found = {
        "success": tiling["status"] == 0,
        "key": tiling["key"],
        "blocks": tiling["blocks"],
        "data": tuple(np.frombuffer(bytes.fromhex(tiling["data"]), np.int32).tolist()),
    }
    expected = {"success": case.succeeds, "key": case.key, "blocks": case.blocks, "data": case.data}
    looked_at = {
        name: one for name, one in expected.items() if one is not None and (case.succeeds or name == "success")
    }
    return [f"{case.name}: {name} {found[name]}, not {one}" for name, one in looked_at.items() if found[name] != one]


@pytest.mark.parametrize("operator", OPERATORS)
def test_tiling_is_what_the_unit_tests_expect(operator: str) -> None:
    if not (NORM / operator).is_dir():
        pytest.skip(f"GNT_PUBLIC_CODE has no nn/norm/{operator}")
    cases = [case for path in files(operator) for case in read_cases(path)]
    assert cases
    project = gnt.project(NORM / operator, op=cases[0].op)
    wrong = [line for case in cases for line in differences(project, case)]
    assert not wrong, "\n".join(wrong)
