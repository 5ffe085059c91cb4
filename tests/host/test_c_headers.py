"""The C headers as Python reads them: every function, the kernel of each operator, and what cannot be read."""

from __future__ import annotations

from ctypes import POINTER, c_double, c_int32, c_int64, c_uint8, c_uint64, c_void_p
from pathlib import Path

import pytest

from gn_tutorial import host
from gn_tutorial.compiler.build_request import TWIN
from gn_tutorial.errors import RegistryError
from gn_tutorial.host import c_library
from gn_tutorial.host.c_headers import read_header
from gn_tutorial.operators.registry import all_kernels, kernels_root, load_registry

HEADERS = [
    path
    for folder in (kernels_root() / "host_api", kernels_root() / "npu", TWIN / "host")
    for path in folder.glob("gn_*.h")
]


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_every_function_of_a_header_is_read(header: Path) -> None:
    named = [
        line.partition("(")[0].split()[-1].lstrip("*")
        for line in header.read_text().splitlines()
        if line.startswith("GN_API ")
    ]
    assert named
    assert [one.name for one in read_header(header)] == named


def test_an_operator_has_two_calls_and_a_registered_kernel() -> None:
    registered = {spec.id for _, spec in all_kernels(load_registry())}
    assert {"GroupNorm", "GeluBackward", "Linear"} <= set(c_library.operators())
    assert set(c_library.kernels()) <= registered
    for name, kernel in c_library.operators().items():
        assert kernel == c_library.kernels([name])[0]
        first, second = (c_library.functions()[one] for one in (f"{name}GetWorkspaceSize", name))
        assert first.arguments[-2:] == (POINTER(c_uint64), POINTER(c_void_p))
        assert second.arguments == (c_void_p, c_uint64, c_void_p, c_void_p)


def test_types_are_those_of_the_header(tmp_path: Path) -> None:
    header = tmp_path / "gn_one.h"
    header.write_text(
        "#define GN_API\n/* What it is. Kernel: gelu/queue, gelu/other. */\n"
        "GN_API GnStatus One(const GnTensor* self, double eps, const uint8_t* mask,\n"
        "                    const int64_t* dims, GnExecutor** executor);\n"
        "/* Another. */\nGN_API GnStatus Two(void);\n"
    )
    one, two = read_header(header)
    pointers = (POINTER(c_uint8), POINTER(c_int64), POINTER(c_void_p))
    assert one == ("One", (c_void_p, c_double, *pointers), c_int32, ("gelu/queue", "gelu/other"))
    assert two == ("Two", (), c_int32, ())
    header.write_text("GN_API GnStatus One(struct tm time);\n")
    with pytest.raises(RegistryError, match="the type 'struct tm' is not known to Python") as caught:
        list(read_header(header))
    assert caught.value.where == f"{header}: One"


def test_an_operator_without_a_kernel_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = tmp_path / "gn_one.h"
    header.write_text(
        "/* One. */\nGN_API GnStatus OneGetWorkspaceSize(uint64_t* workspaceSize, GnExecutor** executor);\n"
    )
    monkeypatch.setattr(c_library, "functions", lambda: {one.name: one for one in read_header(header)})
    with pytest.raises(RegistryError, match="no comment says which kernel it launches") as caught:
        c_library._kernels_of_operators.__wrapped__()
    assert "OneGetWorkspaceSize" in caught.value.where
    assert "Kernel: " in caught.value.hint


def test_the_package_hands_out_its_operators_and_no_module_hides_one() -> None:
    assert {"group_norm", "gelu_backward", "linear", "Stream", "library", "Refused"} <= set(host.__all__)
    for name in host.__all__:
        assert callable(getattr(host, name)), name
    assert len(set(host.__all__)) == len(host.__all__)
