"""The public definitions that CANN's generator is tested with give the functions that its tests expect.

Their folder is asc-devkit's tests/tools/utils/opbuild, in the folder that GNT_PUBLIC_CODE names, as ``asc``; nothing of
it is in this repository. It has eighteen operators in one file, and the expected text of their aclnn functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from op_host_support import described
from public_code import needs, public_code

from gn_tutorial.projects.aclnn import functions, headers
from gn_tutorial.projects.definition import OpDefinition

FOLDER = public_code("asc", "tests", "tools", "utils", "opbuild")
pytestmark = needs(FOLDER)
# An operator built for some chips only is in a file of its own, which has the name of one that is built for all.
COPIES = {"test_add_tik2", "aclnn_compute_unit_add_tik2"}


def golden(suffix: str) -> Iterator[tuple[str, str]]:
    for path in sorted(FOLDER.glob(f"*aclnn_*{suffix}.txt")):
        name = path.name.partition(".")[0]
        if name not in COPIES:
            yield name, path.read_text(encoding="utf-8")


def signatures(text: str) -> dict[str, str]:
    """Name -> arguments, of every function that a text declares or defines."""
    found = re.findall(r"^aclnnStatus (aclnn\w+)\(([^)]*)\)\s*[{;]", text, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", arguments).strip() for name, arguments in found}


def definitions() -> dict[str, OpDefinition]:
    return described(FOLDER / "test_ops.cpp")


def ours(op: OpDefinition) -> dict[str, str]:
    return {one.name: ", ".join(map(str, one.arguments)) for one in functions(op)}


def test_all_eighteen_operators_are_read() -> None:
    assert len(definitions()) == 18


def test_every_operator_has_the_expected_functions() -> None:
    expected: dict[str, str] = {}
    for _, text in golden(".cpp"):
        expected |= signatures(text)
    found = {name: text for op in definitions().values() for name, text in ours(op).items()}
    assert len(expected) == 43
    assert found == expected


def test_every_header_declares_the_expected_functions() -> None:
    made = {name: text for op in definitions().values() for name, text in headers(op).items()}
    compared = 0
    for name, text in golden(".h"):
        plain = re.sub(r'__attribute__\(\(visibility\("default"\)\)\) ', "", made[f"{name}.h"])
        assert signatures(plain) == signatures(text), name
        compared += 1
    assert compared >= 8


def support_lists(text: str) -> dict[str, list[tuple[list[str], list[str]]]]:
    """Chip -> the combinations that the expected source lists, inputs and outputs as "DT_FLOAT FORMAT_ND"."""
    chips = re.findall(r'"(\w+)"', re.search(r"socNameList\[\] = \{(.*?)\}", text)[1])  # type: ignore[index]
    tables: dict[tuple[str, int], dict[int, list[str]]] = {}
    for what, chip, column, body in re.findall(r"TensorDesc (in|out)putDesc(\d+)_(\d+)\[\d+\] =([^;]*);", text):
        pairs = re.findall(r"ge::(DT_\w+), ge::(FORMAT_\w+)", body)
        tables.setdefault((what, int(chip)), {})[int(column)] = [" ".join(pair) for pair in pairs]
    return {
        chip: [
            (tables.get(("in", index), {}).get(column, []), tables.get(("out", index), {}).get(column, []))
            for column in sorted({*tables.get(("in", index), {}), *tables.get(("out", index), {})})
        ]
        for index, chip in enumerate(chips)
    }


def test_every_operator_has_the_expected_columns_on_every_chip() -> None:
    by_type = definitions()
    compared = 0
    for name, text in golden(".cpp"):
        if "socNameList" not in text:
            continue  # an earlier version, which calls the last one
        op = by_type[re.search(r'opType = "(\w+)"', text)[1]]  # type: ignore[index]
        for chip, expected in support_lists(text).items():
            found = op.columns(chip)
            assert found.note == "", (name, chip)
            columns = [
                tuple([f"{form.dtype} {form.format}" for form in forms] for forms in (one.inputs, one.outputs))
                for one in found.columns
            ]
            assert columns == expected, (name, chip)
            compared += 1
    assert compared >= 25
