"""Reasons why a kernel does not compile or run on the twin, in a few kinds that can be counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.compiler.build_request import TWIN
from gn_tutorial.cpp.literals import without_comments
from gn_tutorial.errors import CompileError, KernelError, KernelFault, KernelTimeout
from gn_tutorial.toml_file import read_toml


@dataclass(frozen=True)
class Reason:
    """Why a kernel fails. kind: one of docs/compat.md; name: what is missing or wrong; where: file and line."""

    kind: str
    name: str
    where: str = ""


#: Kind of the reason why a case is not tried.
OTHER = "other target"
# Marks of code for other cores, products or programming interfaces, which are searched in text without comments.
_ELSEWHERE = (
    ("matrix core", r"__cube__|\bMmad\s*[<(]|matmul_intf\.h|\bTPosition::(?:A1|A2|B1|B2|CO1|CO2)\b|\bLoadData\w*\s*[<(]"
     r"|KERNEL_TYPE_(?:MIX_AIC|AIC_ONLY)|\b__mix__\b|\bLocalTensor<[^>]*>\s*\w*[lL]0[abcABC]\b|QuePosition::(?:A1|B1|CO1)"
     r"|Hardware::L[01]|__cc__|__ca__|__cb__|__cbuf__"),
    ("Tensor API", r'"tensor_api/|\bTe::'),
    ("C API", r'"c_api/|\basc_(?:copy|sync|add|vf|dup|mul)\w*\s*\('),
    ("SIMT API", r'"simt_api/|__simt_vf__|\basc_vf_call\b|threadIdx|\b__launch_bounds__\b'),
    ("register API (other product)", r"\b(?:MicroAPI|Reg)::|__simd_vf__|\bRegTensor\b|\bVF_CALL\b"),
    ("host framework", r"gtest/gtest\.h|graph/custom_op\.h|register/op_(?:def|impl)_registry\.h|graph/operator_reg\.h"),
    ("AI CPU", r"__aicpu__|aicpu_api"),
    ("communication", r"\bHccl\b|hccl\.h|hccl/"),
    ("PyTorch extension", r"torch/extension\.h|torch/library\.h|torch_npu|torch/all\.h"),
    ("packaged operator calls", r"\baclnn\w+\s*\(|aclop\w+\s*\(|aclmdl\w+\s*\(|aclrtc\w+\s*\("),
)  # fmt: skip


def other_machine(path: Path, text: str) -> Reason | None:
    """Return which of the source's words show that it is not for the vector cores of Atlas A2; None if it may be."""
    plain = without_comments(text)
    for name, pattern in _ELSEWHERE:
        if re.search(pattern, plain):
            return Reason(OTHER, name, str(path))
    architectures = _architectures(path.parent)
    if architectures and "dav-2201" not in architectures:
        return Reason(OTHER, f"built for {', '.join(sorted(architectures))}", str(path))
    return None


def _architectures(folder: Path) -> set[str]:
    """The --npu-arch names in the CMakeLists.txt beside the source."""
    try:
        text = (folder / "CMakeLists.txt").read_text("utf-8", "replace")
    except OSError:
        return set()
    return set(re.findall(r"\bdav-[\w]+", re.sub(r"#[^\n]*", "", text)))


def of_compile_error(error: CompileError) -> tuple[Reason, ...]:
    """One reason for each error that differs, the first error first."""
    if not error.errors:
        kind = "template entry" if "is a template" in error.what else "language"
        return (Reason(kind, _short(error.what.partition(": ")[2] or error.what), error.where),)
    reasons = [_of_message(one.message, one.where, one.source_line) for one in error.errors]
    return tuple({(one.kind, one.name): one for one in reversed(reasons)}.values())[::-1]


def of_run_error(error: KernelError) -> Reason:
    """Return the reason of a failed launch."""
    if isinstance(error, KernelFault) and error.diagnostics:
        first = next((one for one in error.diagnostics if one.severity == "error"), error.diagnostics[0])
        return Reason("diagnostic", first.id, first.where)
    if isinstance(error, KernelTimeout):
        return Reason("time limit", "", error.where)
    return Reason("crash", _short(error.what), error.where)


#: Beginnings of the ids of findings that depend on the sizes and contents of arrays, or on the number of blocks.
_BY_SIZE = ("gm-", "race-blocks", "race-equal-bytes", "cache-", "block-", "sync-all-", "cross-core-", "tiling-")


def of_invented_launch(fault: KernelFault) -> Reason:
    """Return why a launch with invented sizes failed: because of them, unless a finding does not depend on them."""
    errors = [one for one in fault.diagnostics if one.severity == "error"]
    own = [one for one in errors if not one.id.startswith(_BY_SIZE)]
    if own or not errors:
        return Reason("diagnostic", own[0].id, own[0].where) if own else of_run_error(fault)
    return Reason("arguments", f"sizes that are made up ({errors[0].id})", errors[0].where)


_PATTERNS = (
    ("missing API", r"^(\w+) is a documented Ascend C name that is not on the twin yet"),
    ("missing header", r"^'?([^:']+)'?(?:: No such file or directory| file not found)"),
    ("missing name", r"'(\w+)' in namespace '[\w:]+' does not name"),
    ("missing name", r"'(?:\w+::)*(\w+)' was not declared in this scope"),
    ("missing name", r"'(\w+)' is not a member of"),
    ("missing name", r"'(?:\w+::)*(\w+)' (?:does not name a type|is not a class template|has not been declared)"),
    ("missing name", r"no arguments to '(\w+)' that depend on a template parameter"),
    ("missing name", r"use of undeclared identifier '(\w+)'"),
    ("missing name", r"no (?:member|type|template) named '(\w+)'"),
    ("missing name", r"unknown type name '(\w+)'"),
    ("missing name", r"has no member named '(\w+)'"),
    ("missing form", r"no matching (?:member )?function for call to '(?:.*?[ :])??(\w+)(?:<.*>)?\("),
    ("missing form", r"no matching (?:member )?function for call to '(\w+)'"),
)


def _not_on_a2() -> frozenset[str]:
    """Documented names that the twin lacks because Atlas A2 lacks them (``twin/apis.toml``)."""
    return frozenset(read_toml(TWIN / "apis.toml", "the list of APIs")["unsupported"]["functions_not_on_a2"])


def _of_message(message: str, where: str, line: str) -> Reason:
    plain = message.replace("\u2018", "'").replace("\u2019", "'")
    for kind, pattern in _PATTERNS:
        if found := re.search(pattern, plain):
            if kind == "missing API" and found[1] in _not_on_a2():
                return Reason(OTHER, "names that Atlas A2 lacks", where)
            return Reason(kind, found[1], where)
    if "template" in plain and "__global__" in line:
        return Reason("template entry", _short(plain), where)
    return Reason("language", _short(plain), where)


def _short(text: str) -> str:
    """Return the first line without its long numbers, so that equal mistakes count together."""
    line = text.splitlines()[0] if text else ""
    return re.sub(r"\d{3,}", "N", line)[:100]
