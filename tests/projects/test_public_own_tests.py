"""Public operator projects pass their own tests, unchanged: asc-devkit's examples and a course's.

They lie in the folder that GNT_PUBLIC_CODE names, as ``asc`` (asc-devkit) and ``hub`` (cann-learning-hub); nothing of
them is in this repository.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from public_code import needs, public_code

from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.test_runner.own_test import run_own_test

ACL = public_code("asc", "examples", "01_simd_cpp_api", "02_features", "99_acl_based")
COURSE = public_code("hub", "tutorials", "ascendc_operator_development")
OPERATORS = ACL / "00_acl_compilation"
VECTOR = COURSE / "03_intermediate_vector_operator_development"
FUSED = COURSE / "05_fused_operator_development"
REPOSITORY = COURSE / "06_opensource_repo_operator_intro_and_contribution"
FAST = COURSE / "08_performance_optimization" / "src"
TESTS = (
    (OPERATORS / "custom_op", ACL / "01_acl_invocation" / "aclnn_invocation"),
    (OPERATORS / "custom_op_static_lib", None),
    (OPERATORS / "parallel_ops_package" / "add_custom", ACL / "01_acl_invocation" / "aclnn_invocation"),
    (VECTOR / "src" / "custom_op", None),
    (VECTOR / "src" / "custom_op_04", None),
    (VECTOR / "answer" / "03.02_answer", VECTOR / "src" / "custom_op" / "test_sub"),
    (VECTOR / "answer" / "03.04_answer", None),
    (VECTOR / "answer" / "03.06_answer", None),
    (REPOSITORY / "src" / "add_custom", None),
    (REPOSITORY / "answer" / "06.03_answer", None),
    (REPOSITORY / "answer" / "06.05_answer", None),
    *((FAST / f"custom_op{one}", None) for one in ("", "_04_01", "_04_02", "_04_03", "_05")),
)
pytestmark = needs(OPERATORS, COURSE)


@pytest.mark.parametrize(("project", "test"), TESTS, ids=[f"{one.parent.name}/{one.name}" for one, _ in TESTS])
def test_it_passes_its_own_test(project: Path, test: Path | None) -> None:
    done = run_own_test(project, test, seconds=600.0)
    assert done.passed, repr(done)
    assert done.said == "test pass"
    assert done.launches


def test_an_exercise_without_its_solution_fails() -> None:
    done = run_own_test(VECTOR / "src" / "custom_op_04_test", seconds=600.0)
    assert (done.verdict, done.said) == ("failed", "test failed")


def test_a_matrix_operator_is_named_early() -> None:
    with pytest.raises(ArgumentError, match="MatmulSinh computes on the matrix cores"):
        run_own_test(FUSED / "answer" / "05.05_answer")


def test_a_test_of_models_is_named() -> None:
    with pytest.raises(ArgumentError, match="calls aclopSetModelDir"):
        run_own_test(OPERATORS / "custom_op", ACL / "01_acl_invocation" / "aclop_invocation")
