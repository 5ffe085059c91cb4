"""The structs that pass between Python and C++: a C++ program prints what the compiler laid out, field by field."""

import ctypes
import re
import subprocess
from enum import IntEnum
from pathlib import Path

import pytest

from gn_tutorial.abi import job_structs, structs
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compiler.toolchain import find_compiler
from gn_tutorial.runtime import outcome

TWIN = Path(__file__).resolve().parents[2] / "gn_tutorial" / "twin"
STRUCTS = {
    "GntArg": structs.GntArg,
    "GntOptions": structs.GntOptions,
    "GntTally": structs.GntTally,
    "GntWatch": structs.GntWatch,
    "GntTrace": structs.GntTrace,
    "GntJob": structs.GntJob,
    "JobFileArg": job_structs.JobFileArg,
    "JobFile": job_structs.JobFileHeader,
}
ENUMS = {
    "GNT_": (structs.ArgKind, structs.Role, structs.Status),
    "JOB_": (job_structs.Phase, job_structs.LaunchOutcome),
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What C++ says: ``GntJob`` -> size, ``GntJob.blocks`` and ``GntJob.blocks:size`` -> layout, constants by name."""
    lines = [f'std::printf("{name} %zu\\n", sizeof({name}));' for name in STRUCTS]
    for name, struct in STRUCTS.items():
        for field, *_ in struct._fields_:
            lines.append(f'std::printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
            lines.append(f'std::printf("{name}.{field}:size %zu\\n", sizeof({name}::{field}));')
    constants = [prefix + member.name for prefix, enums in ENUMS.items() for enum in enums for member in enum]
    constants += ["GNT_ABI_VERSION", "GNT_JOB_MAGIC"]
    lines += [f'std::printf("{name} %lu\\n", static_cast<unsigned long>({name}));' for name in constants]
    headers = "#include <cstddef>\n#include <cstdio>\n#include <initializer_list>\n"
    folder = tmp_path_factory.mktemp("abi")
    source = folder / "layout.cpp"
    body = "\n  ".join(lines)
    source.write_text(f'{headers}#include "job_file.h"\nint main() {{\n  {body}\n}}\n')
    program = folder / "layout"
    compiler = find_compiler()
    folders = ["-I", str(TWIN / "include"), "-I", str(TWIN / "launcher")]
    subprocess.run([*compiler.argv, "-std=c++20", *folders, str(source), "-o", str(program)], check=True)
    output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


@pytest.mark.parametrize("name", STRUCTS)
def test_python_and_cpp_lay_out_a_struct_alike(printed: dict[str, int], name: str) -> None:
    struct = STRUCTS[name]
    python = {name: ctypes.sizeof(struct)}
    for field, *_ in struct._fields_:
        descriptor = getattr(struct, field)
        python[f"{name}.{field}"] = descriptor.offset
        python[f"{name}.{field}:size"] = descriptor.size
    cpp = {key: value for key, value in printed.items() if re.split(r"[.:]", key)[0] == name}
    assert python == cpp


@pytest.mark.parametrize("name", STRUCTS)
def test_no_field_is_missing(name: str) -> None:
    """Sizes alone would not tell two 4-byte fields from one of 8 bytes that was split."""
    text = "".join(path.read_text() for path in (TWIN / "include/gn_twin/base/abi.h", TWIN / "launcher/job_file.h"))
    body = re.search(rf"struct {name} {{(.*?)\n}};", text, re.DOTALL)[1]
    declared = re.findall(r"(\w+)(?:\[\d+\])?;", re.sub(r"//.*", "", body))
    assert declared == [field for field, *_ in STRUCTS[name]._fields_]


@pytest.mark.parametrize(("prefix", "enum"), [(prefix, enum) for prefix, enums in ENUMS.items() for enum in enums])
def test_enumerations_have_the_same_values(printed: dict[str, int], prefix: str, enum: type[IntEnum]) -> None:
    assert {member.name: printed[prefix + member.name] for member in enum} == {one.name: one.value for one in enum}


def test_versions_agree(printed: dict[str, int]) -> None:
    assert printed["GNT_ABI_VERSION"] == structs.ABI_VERSION
    assert printed["GNT_JOB_MAGIC"] == job_structs.MAGIC


def test_exit_codes_of_the_launcher_agree() -> None:
    text = (TWIN / "launcher" / "launcher.cpp").read_text()
    assert f"kBadJobFile = {outcome.LAUNCHER_REFUSED};" in text


def test_every_option_is_a_field_of_the_struct() -> None:
    fields = [name for name, *_ in structs.GntOptions._fields_ if name != "reserved"]
    by_name = ["warnings", "errors"]  # texts, in GntJob::severities
    assert [*fields, *by_name] == list(TwinOptions.__dataclass_fields__)
