"""Numbers that nothing gives a value, or too late: members of a kernel's class, and variables of a function.

Told by tokens alone, so only where no place of the source may write them: what is assigned on one path, or whose
address or reference goes anywhere, is left to the run, where such variables hold a pattern (gn_twin/events/
wild_values.h). A sum that begins with ``+=`` counts as read only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gn_tutorial.cpp.declarations import Node, Outline
from gn_tutorial.cpp.device_code import DEVICE_WORDS, DeviceCode
from gn_tutorial.cpp.rules.device_functions import SourceFinding

#: Types whose variables begin with what was in memory. A name of the source's own may have a constructor.
NUMBERS = frozenset(
    """bool char short int long unsigned signed float double half bfloat16_t int8_t uint8_t int16_t uint16_t int32_t
    uint32_t int64_t uint64_t size_t""".split()
)
#: Functions of CANN that write into arguments that are numbers.
_WRITE_ARGUMENTS = ("GetReduce", "GET_TILING", "COPY_TILING", "GetMrgSort", "memcpy", "memset")


def never_set(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Members and variables that are read and never written."""
    outline = code.outline
    if node.kind == "variable" and node.owner and _is_kernel_class(code, node.owner):
        for at in _declared(outline, node.spans[0][0], node.spans[0][1]):
            reads = _reads(code, at, (0, len(outline.tokens)), member=True)
            if reads:
                yield _finding(outline, at, reads)
            elif (early := _member_read_early(code, at)) is not None:
                yield _finding(outline, at, [early], late=True)
    if node.kind == "function" and not node.words & {"constexpr", "consteval"}:
        for begin in range(*node.body):
            if outline.text(begin) not in NUMBERS or outline.text(begin - 1) not in (";", "{", "}"):
                continue
            end = next((one for one in range(begin, node.body[1]) if outline.text(one) == ";"), begin)
            for at in _declared(outline, begin, end):
                reads = _reads(code, at, node.body, member=False)
                if reads:
                    yield _finding(outline, at, reads)
                elif (early := _read_early(code, outline.text(at), (end, node.body[1]))) is not None:
                    yield _finding(outline, at, [early], late=True)


def _member_read_early(code: DeviceCode, declared: int) -> int | None:
    """Where a member is read before all its writes, which are in one function that runs once: see _read_early.

    Once run constructors and what makes the buffers.
    """
    outline, name = code.outline, code.outline.text(declared)
    writes = [at for at in code.places(name) if at != declared and may_write(code, at)]
    holds = (one for one in code.nodes if one.kind == "function" and writes and writes[0] in range(*one.body))
    function = next(holds, None)
    if function is None or any(at not in range(*function.body) for at in writes):
        return None
    words = {outline.text(at) for at in range(*function.body)}
    once = function.name == function.owner or words & {"InitBuffer", "SetGlobalBuffer"}
    return _read_early(code, name, function.body) if once and name not in outline.names(function.params) else None


def _read_early(code: DeviceCode, name: str, within: tuple[int, int]) -> int | None:
    """The first read that stands before every write; no loop and no lambda may stand before that."""
    outline = code.outline
    places = [at for at in code.places(name) if within[0] <= at < within[1]]
    first = next((at for at in places if may_write(code, at)), None)
    if first is None:
        return None
    before = [outline.text(at) for at in range(within[0], first)]
    lambdas = any(sign == "[" and behind in ("&", "=", "this") for sign, behind in pairwise(before))
    if lambdas or {"for", "while", "do", "goto"} & set(before):
        return None
    reads = (at for at in places if outline.text(at - 1) not in (".", "->", "::") or outline.text(at - 2) == "this")
    return next((at for at in reads if at < first and outline.text(at - 2) not in ("sizeof", "decltype")), None)


def _finding(outline: Outline, declared: int, reads: list[int], *, late: bool = False) -> SourceFinding:
    """At the first ``+=`` and the like, else at the first read. late: a statement further down gives it a value."""
    sums = [at for at in reads if outline.text(at + 1) in ("+", "-", "*", "/") and outline.text(at + 2) == "="]
    name = outline.text(declared)
    fields = {"name": name, "op": name, "cause": "set-too-late" if late else ""}
    return SourceFinding("language-never-set", outline.tokens[(sums or reads)[0]].line, fields)


def _is_kernel_class(code: DeviceCode, name: str) -> bool:
    """Whether it has device functions, and no object of it can begin with zeros or as a copy of memory."""
    outline = code.outline
    classes = [one for one in code.nodes if one.kind == "class" and one.name == name]
    functions = [one for one in code.nodes if one.kind == "function" and one.owner == name and one.words & DEVICE_WORDS]
    if len(classes) != 1 or not functions or "union" in classes[0].words:
        return False
    for at in code.places(name):
        behind = outline.after_angles(at + 1, len(outline.tokens)) if outline.text(at + 1) == "<" else at + 1
        made = outline.is_name(behind) and outline.text(behind + 1) in ("{", "=")  # Name x{}, Name x = ...
        if (made or outline.text(behind) in ("{", "*")) and outline.text(at - 1) not in ("class", "struct"):
            return False
    return not any(one.kind == "variable" and not one.owner and name in code.mentions(one) for one in code.nodes)


def _declared(outline: Outline, begin: int, end: int) -> Iterator[int]:
    """The names that ``uint32_t a, b`` declares; none where one of them has a value, or the type is another."""
    at = begin
    while outline.text(at) in NUMBERS:
        at += 1
    if at == begin:
        return
    words = [outline.text(one) for one in range(at, end)]
    if all(outline.is_name(at + one) if one % 2 == 0 else word == "," for one, word in enumerate(words)) and words:
        yield from range(at, end, 2)


def _reads(code: DeviceCode, declared: int, within: tuple[int, int], *, member: bool) -> list[int]:
    """Where the name is read; nothing if a place may write it."""
    outline, found = code.outline, []
    name = outline.text(declared)
    for at in code.places(name):
        if at == declared or not within[0] <= at < within[1]:
            continue
        if may_write(code, at):
            return []
        if not member and outline.text(at - 1) in (".", "->", "::"):
            continue  # a member of something else
        found.append(at)
    return found


def may_write(code: DeviceCode, at: int) -> bool:
    """Whether this place gives the name a value, or hands it to somebody who may; or means another variable."""
    outline = code.outline
    before, behind = at - 1, outline.text(at + 1)
    while outline.text(before) in (".", "->", "::"):  # this->name, args.name
        before -= 2
    sign, earlier = outline.text(before), outline.text(before - 1)
    if behind in ("(", "{", "[", ".", "->") or (behind == "=" and outline.text(at + 2) != "="):
        return True
    if outline.is_name(before):
        return sign not in ("return", "else", "case", "do")
    if sign == "&":
        return earlier != "&"
    if sign == ">":
        return behind in (";", ",", "=") or earlier == ">"
    if sign == "=" and "&" in (outline.text(before - 2), outline.text(before - 3)):
        return True  # Type& name = ...
    if sign == "[":
        return not _is_value(outline, before - 1)
    return sign in ("(", ",") and behind in (")", ",") and _callee_writes(code, before)


def _is_value(outline: Outline, at: int) -> bool:
    return outline.text(at) in (")", "]") or outline.is_name(at)


def _callee_writes(code: DeviceCode, at: int) -> bool:
    """Whether the call, of whose arguments ``at`` is a comma or the opening parenthesis, may take a reference."""
    outline, depth = code.outline, 0
    while at > 0:
        word = outline.text(at)
        if word in (")", "]", "}"):
            depth += 1
        elif word in ("(", "[", "{"):
            if depth == 0:
                break
            depth -= 1
        elif word == ";":
            return True
        at -= 1
    if outline.text(at) != "(":
        return outline.text(at) == "["  # in braces it is copied
    callee = at - 1
    if outline.text(callee) == ">":
        while callee > 0 and outline.text(callee) != "<":
            callee -= 1
        callee -= 1
    if not outline.is_name(callee):
        return False  # an expression in parentheses
    name = outline.text(callee)
    if name.startswith(_WRITE_ARGUMENTS):
        return True
    return any(_takes_reference(outline, place) for place in code.places(name))


def _takes_reference(outline: Outline, at: int) -> bool:
    """Whether a function of this name is declared here with a reference, or a lambda or an object is given the name."""
    if outline.text(at + 1) == "=" or outline.text(at - 1) in ("class", "struct"):
        return True
    end = outline.match.get(at + 1, at) if outline.text(at + 1) == "(" else at
    return "&" in [outline.text(one) for one in range(at, end)]
