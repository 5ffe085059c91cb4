"""Makes hints for compiler errors whose cause is certain: the error's meaning in a learner's words, and a fix."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from gn_tutorial.compiler.output import Report
from gn_tutorial.cpp.source_line import LineFacts
from gn_tutorial.cpp.source_text import short

_LONGEST_MESSAGE = 400


#: The C++ names of the types that a tensor's elements, and the scalars passed beside a tensor, can have.
_SCALARS = frozenset(
    """float half float16_t double bfloat16_t int unsigned long int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t
    uint64_t""".split()
) | {"short int", "unsigned int", "long int", "long unsigned int", "short unsigned int", "unsigned char", "signed char"}

_UNKNOWN = (
    r"'(?:\w*::)*(\w+)' was not declared in this scope",
    r"'(\w+)' is not a member of",
    r"'(?:\w*::)*(\w+)' (?:does not name a type|is not a class template|has not been declared)",
    r"no arguments to '(\w+)' that depend on a template parameter",
    r"use of undeclared identifier '(\w+)'",
    r"no (?:member|type|template) named '(\w+)'",
    r"unknown type name '(\w+)'",
    r"has no member named '(\w+)'",
    r"undefined reference to (?:.*?[ :])??(\w+)(?:<.*>)?(?:\(|$)",
)

#: Names in the namespace AscendC that kernels often use in their first lines.
_TYPES_OF_ASCENDC = frozenset("TPipe TQue TQueBind TBuf TPosition TEventID LocalTensor GlobalTensor HardEvent".split())


def unknown_name(text: str) -> str:
    """Return the name that an error reports as unknown: not declared, not a member, or without a body; else ""."""
    plain = text.replace("\u2018", "'").replace("\u2019", "'")
    for pattern in _UNKNOWN:
        if found := re.search(pattern, plain):
            return found[1]
    return ""


def shortened(text: str) -> str:
    """Return the message without the parts that only the twin's authors understand, cut at _LONGEST_MESSAGE."""
    text = re.sub(r"static assertion failed(?: due to requirement '.*?')?: ", "", text)
    text = re.sub(r"static assertion failed due to requirement (.*)", r"the condition \1 does not hold", text)
    text = re.sub(r"; did you mean '(?:gn_twin|GNT|__)\w*.*?'\??", "", text)
    text = re.sub(r"; did you mean (?:simply )?'(?:min|max|std)'\??", "", text)  # a device does not have these
    text = re.sub(r"('(\w+)'.*); did you mean (?:simply )?'AscendC::\2'\??", r"\1", text)  # _namespace gives a hint
    text = re.sub(r"\b(?:gn_twin|AscendC)::", "", text)
    text = re.sub(r"std::__(?:cxx11|1)::", "std::", text)
    text = re.sub(r"(?:, )?(?:Loc|Loc loc)(?=\))", "", text)  # the call site, the twin's own last parameter
    text = re.sub(r"\s*\[-[WF][^\]]*\]$|\s*\[-fpermissive\]$", "", text)
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + " ..."


def _missing_header(report: Report, searched: Sequence[Path], _facts: LineFacts) -> str:
    found = re.search(r"^'?([^':]+)'?(?:: No such file or directory| file not found)", report.message)
    if not found:
        return ""
    header = found[1]
    if re.match(r"acl/|aclnn|torch|tiling/platform|register/", header):
        return f"{header} belongs to host code: keep host code out of the kernel file"
    looked = ", ".join(short(folder) or "." for folder in searched)
    return f"looked in {looked}; put {header} there, or name its folder with include_dirs"


def _double_scalar(report: Report, _searched: Sequence[Path], facts: LineFacts) -> str:
    said = " ".join(report.notes)
    literal = next((one for one in facts.numbers if "." in one and one[-1] not in "fFlL"), "")
    conflict = re.search(r"(?:deduced )?conflicting types for parameter", said)
    if literal and conflict and "double" in said and "no matching function" in report.message:
        return f"{literal} is a double; the scalar has the tensor's own type: write {literal}f for a float tensor"
    return ""


def _other_scalar(report: Report, _searched: Sequence[Path], facts: LineFacts) -> str:
    """Return a hint for a scalar that has another type than the tensor, such as the integer in ``Adds(y, x, 1, n)``."""
    said = " ".join(report.notes).replace("\u2018", "'").replace("\u2019", "'")
    found = re.search(r"conflicting types for parameter '[^']*' \('([\w:]+)'[^()]*? (?:and|vs\.) '([\w: ]+)'", said)
    if not found or "no matching function" not in report.message:
        return ""
    wanted, given = (re.sub(r"^(?:\w+::)+", "", name) for name in found.groups())
    if wanted not in _SCALARS or given not in _SCALARS:
        return ""
    whole = facts.whole if given == "int" else ()
    one = f"{whole[0]} is" if whole else "a scalar here is"  # the scalar stands before a count
    written = f"write {whole[0]}.0f" if whole and wanted == "float" else f"write static_cast<{wanted}>(...)"
    return f"{one} of type {given}; the scalar has the tensor's own type, {wanted}: {written}"


def _namespace(report: Report, _searched: Sequence[Path], facts: LineFacts) -> str:
    """Return a hint for a name of AscendC that is used without ``AscendC::``.

    g++ suggests the full name, except for TEventID; clang suggests nothing.
    """
    name = unknown_name(report.message)
    suggested = re.search(rf"\bAscendC::{name}\b", " ".join([report.message, *report.notes]))
    if name and (suggested or name in _TYPES_OF_ASCENDC) and not any(name == one for _, one in facts.names):
        return f"{name} is in the namespace AscendC: write AscendC::{name}, or 'using namespace AscendC;' at the top"
    return ""


def _launch_syntax(_report: Report, _searched: Sequence[Path], facts: LineFacts) -> str:
    return "a launch is written kernel<<<blocks, nullptr, stream>>>(arguments)" if facts.launches else ""


def _semicolon_before(report: Report, line: str) -> str:
    """Return a hint for a missing ';', for which g++ reports the next token, perhaps some lines below.

    clang reports the place where the ';' is missing.
    """
    found = re.match(r"expected (?:',' or )?';' before '?(\w+)", report.message)
    if found and report.place and line.strip() and not line[: report.place.column - 1].strip():
        return "a ';' is missing at the end of the statement before this line"
    return ""


def _element_of_a_view(report: Report, _searched: Sequence[Path], facts: LineFacts) -> str:
    """Return a hint for ``sum += tile[i]``: the index operator returns not a number, but a tensor from element i on."""
    said = " ".join([report.message, *report.notes])
    arithmetic = re.search(r"no match for 'operator|invalid operands|cannot convert|no viable|assigning to", said)
    if len(facts.subscripts) != 1 or not arithmetic or not re.search(r"\b(?:Local|Global)Tensor<", said):
        return ""
    name, index = facts.subscripts[0]
    return f"{name}[{index}] is a view, a tensor that begins there; {name}.GetValue({index}) is the number"


def _smaller_or_larger(report: Report, _searched: Sequence[Path], facts: LineFacts) -> str:
    """Return a hint for a call of ``std::min`` or ``AscendC::min``, or a wrong call of ``AscendC::Std::min``."""
    written = (one for one in facts.names if one[0] in ("std", "Std", "AscendC") and one[1] in ("min", "max"))
    scope, function = next(written, ("", ""))
    if not scope:
        return ""
    whole = f"AscendC::Std::{function}"
    name = unknown_name(report.message)
    if scope != "Std" and name == function:
        return f"device code has no {scope}::{function}; {whole} is there, for two numbers of one type"
    if scope == "Std" and name == "Std":
        return f"Std is a namespace of AscendC: write {whole}"
    if "numbers of one type" in report.message:
        return "give both numbers the same type: 8u beside a uint32_t, or static_cast<uint32_t>(...)"
    return ""


def _narrowing(report: Report, _searched: Sequence[Path], _facts: LineFacts) -> str:
    """Return a hint for a number in braces that may not fit into its field (a narrowing conversion)."""
    plain = shortened(report.message).replace("\u2018", "'").replace("\u2019", "'")
    found = re.search(r"narrowing conversion of .* to '([^']+)'(?: \{aka '[^']*'\})?$", plain) or re.search(
        r"cannot be narrowed(?: from type '.*')? to (?:type )?'([^']+)'", plain
    )
    if not found:
        return ""
    return f"a number that does not fit loses its upper bits: see that it does, then write static_cast<{found[1]}>(...)"


def _bfloat16_number(report: Report, _searched: Sequence[Path], _facts: LineFacts) -> str:
    """Return a hint for a conversion of a bfloat16_t number.

    The device's compiler refuses it as well, with "not support bf16 type cast".
    """
    said = re.search(
        r"(?:cannot convert|no viable conversion from|could not convert|from incompatible type) .*bfloat16_t",
        report.message,
    )
    return (
        "a number of type bfloat16_t becomes a float by AscendC::ToFloat(value), Cast(value) in CANN 9" if said else ""
    )


def _branch_outside_a_template(report: Report, _searched: Sequence[Path], facts: LineFacts) -> str:
    """Return a hint for an error in a branch of ``if constexpr`` outside a template, where no branch is left out."""
    if not facts.lacks_template or not re.search(r"no matching|cannot convert|no viable|conversion", report.message):
        return ""
    return (
        "outside a template both branches of if constexpr are compiled: write template <typename T> before the class, "
        "and the type where it is used, such as Kernel<DTYPE_X> op"
    )


def _other_arguments(report: Report, _searched: Sequence[Path], _facts: LineFacts) -> str:
    """Return a hint for a call of an Ascend C function that has no overload with these arguments."""
    found = re.search(r"no matching (?:member )?function for call to .(?:\w+::)*(\w+)[^\w:]", report.message)
    if not found or not re.search(rf"\bAscendC::{found[1]}\b", " ".join(report.notes)):
        return ""
    return f"gnt apis {found[1]} prints its forms"


_HINTS: tuple[Callable[[Report, Sequence[Path], LineFacts], str], ...] = (
    _missing_header,
    _branch_outside_a_template,  # before the hints on types, because the branch may be for another type
    _double_scalar,
    _other_scalar,
    _namespace,
    _launch_syntax,
    _element_of_a_view,
    _smaller_or_larger,
    _narrowing,
    _bfloat16_number,
    _other_arguments,
)


def hint_of(report: Report, searched: Sequence[Path], line: str, facts: LineFacts) -> str:
    """Return a hint for an error; empty if none is certain.

    searched: folders to name when a header is missing. line, facts: the source line where the error is shown.
    """
    found = (advice for hint in _HINTS if (advice := hint(report, searched, facts)))
    return next(found, "") or _semicolon_before(report, line)
