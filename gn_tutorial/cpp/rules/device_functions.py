"""C++ that a device function may not have, or that runs there otherwise than here: one function for each rule.

Sources, in asc-devkit's docs/zh/guide. Below 技术附录/CPP标准支持: [features] 语法限制/特性.md (virtual functions and
bases, recursion at run time, malloc, new and free, the STL, typeid, files, and the standard library's tuple and
algorithms are not supported); [standard] 概述.md (C++11 unless told; 14, 17 and 20 can be chosen; cmake/asc chooses
17). [qualifiers]: 编程指南/语言扩展层/SIMD-BuiltIn关键字.md (a function without a qualifier is the host's; a pointer
to global memory says __gm__).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gn_tutorial.cpp.declarations import Node, Outline
from gn_tutorial.cpp.device_code import DeviceCode


@dataclass(frozen=True)
class SourceFinding:
    """An id of the catalogue, the line in the outline's text, and the facts of its sentences."""

    id: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)


#: What stops a launch; every other finding is a warning.
ERRORS = frozenset(f"language-{name}" for name in ("virtual", "heap", "recursion", "std", "typeid", "no-gm"))
_HEAP = frozenset(("malloc", "calloc", "realloc", "free", "aligned_alloc"))
_CONSTANT = frozenset(("const", "constexpr", "extern", "using", "typedef", "concept", "friend", "static_assert"))
_ONLY_20 = frozenset(("consteval", "constinit", "co_await", "co_yield", "co_return", "char8_t", "requires", "concept"))
_STD_20 = frozenset(("span", "bit_cast", "ranges", "numbers", "popcount", "bit_ceil", "bit_floor", "countl_zero",
                     "has_single_bit", "type_identity_t", "remove_cvref_t", "same_as", "integral", "floating_point",
                     "is_constant_evaluated", "source_location"))  # fmt: skip
_SIZES = {"char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "half": 2, "bfloat16_t": 2,
          "short": 2, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8,
          "double": 8, "size_t": 8}  # fmt: skip
#: Of a core's scalar stack: -cce-aicore-stack-size in cmake/asc/legacy_modules/bisheng_intf.cmake.
STACK_BYTES = 0x8000
#: One for each block, or in memory that the blocks share on the device too.
_PLACED = frozenset(("__BLOCK_LOCAL__", "block_local", "__gm__"))

Rule = Callable[[DeviceCode, Node], Iterator[SourceFinding]]


def _body(outline: Outline, node: Node) -> Iterator[int]:
    """Where the tokens stand that run: of a function the list of initialisers and the body."""
    if node.kind == "function":
        yield from range(node.params[1], node.body[1])


def _all(outline: Outline, node: Node) -> Iterator[int]:
    for first, last in node.spans:
        yield from range(first, last)


def virtual(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Virtual functions and virtual bases. [features]"""
    outline = code.outline
    inside = range(node.head[0], node.body[1]) if node.kind == "class" else _body(outline, node)
    for at in inside:
        if outline.text(at) == "virtual":
            yield SourceFinding("language-virtual", outline.tokens[at].line, {"op": "virtual"})


def heap(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """new, delete, malloc and free; placement new takes no memory. [features]"""
    outline = code.outline
    for at in _body(outline, node):
        word, before, behind = outline.text(at), outline.text(at - 1), outline.text(at + 1)
        if (word == "new" and before != "operator" and behind != "(") or (
            word == "delete" and before not in ("operator", "=")
        ):
            yield SourceFinding("language-heap", outline.tokens[at].line, {"op": word})
        elif word in _HEAP and behind == "(" and before not in (".", "->") and not code.functions(word):
            if before == "::" and outline.text(at - 2) != "std":
                continue
            yield SourceFinding("language-heap", outline.tokens[at].line, {"op": word})


def typeid(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """typeid and dynamic_cast, which asks for the type at run time too. [features]"""
    for tree in code.trees(node):
        for one in code.syntax.nodes("identifier", within=tree):
            if (word := code.syntax.text(one)) in ("typeid", "dynamic_cast"):
                yield SourceFinding("language-typeid", code.syntax.line(one), {"op": word})


def exceptions(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """try and throw; no document speaks of them."""
    outline = code.outline
    for at in _body(outline, node):
        if outline.text(at) in ("try", "throw"):
            yield SourceFinding("language-exception", outline.tokens[at].line, {"op": outline.text(at)})


def globals_(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Variables that outlive a block's run: on the twin all blocks share one."""
    outline = code.outline
    shared = node.kind == "variable" and (not node.owner or "static" in node.words)
    if shared and not node.words & (_CONSTANT | _PLACED):
        yield SourceFinding("language-global", node.line, {"name": node.name})
    for at in _body(outline, node) if code.mentions(node) & {"static", "thread_local"} else ():
        if outline.text(at) in ("static", "thread_local") and outline.text(at - 1) not in ("static", "thread_local"):
            end = next((one for one in range(at, node.body[1]) if outline.text(one) in ("=", "{", ";", "(", "[")), at)
            words = outline.names((at, end)) | set(_statement(outline, at))
            if not words & _CONSTANT and outline.is_name(end - 1):
                yield SourceFinding("language-global", outline.tokens[at].line, {"name": outline.text(end - 1)})


def double(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Values of type double in functions; tiling data may hold what the host alone reads.

    A constant that the compiler computes is none, nor is a type that is compared with it.
    """
    outline = code.outline
    for at in range(node.params[0], node.body[1]) if node.kind == "function" else ():
        if outline.text(at) != "double":
            continue
        value = outline.is_name(at + 1) or (outline.text(at + 1) == ")" and outline.text(at - 1) == "(")
        cast = outline.text(at - 1) == "<" and outline.text(at - 2) == "static_cast"
        if (value or cast) and "constexpr" not in _statement(outline, at):
            yield SourceFinding("language-double", outline.tokens[at].line, {"op": "double"})
            return


def stack(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Arrays in a function that need more than the whole stack."""
    outline = code.outline
    total = 0
    for at in _body(outline, node):
        if outline.text(at) != "[" or not outline.is_name(at - 1):
            continue
        words = _statement(outline, at)
        size = next((_SIZES[word] for word in words if word in _SIZES), 0)
        declares = outline.is_name(at - 2) and outline.text(at - 2) in _SIZES
        count, here = 1, at
        while declares and outline.text(here) == "[":
            count *= _constant(code, here + 1, outline.match.get(here, here)) or 0
            here = outline.match.get(here, here) + 1
        before, total = total, total + (size * count if declares and not {"static", "extern"} & set(words) else 0)
        if total > STACK_BYTES >= before:
            fields = {"name": outline.text(at - 1), "bytes": str(total), "stack": str(STACK_BYTES)}
            yield SourceFinding("language-stack", outline.tokens[at - 1].line, fields)


def cpp20(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """What only C++20 has. [standard]"""
    outline = code.outline
    seen: set[str] = set()
    for at in _all(outline, node):
        what = _only_20(outline, at)
        if what and what not in seen:
            seen.add(what)
            yield SourceFinding("language-cpp20", outline.tokens[at].line, {"name": what})
    if node.kind == "function":
        for at in range(*node.params):
            if outline.text(at) == "auto":
                yield SourceFinding("language-cpp20", outline.tokens[at].line, {"name": "a parameter of type auto"})
                return


def _only_20(outline: Outline, at: int) -> str:
    # Not among them: what clang, and so CANN's compiler, takes in C++17 too, such as .name = value in braces.
    word, before, behind = outline.text(at), outline.text(at - 1), outline.text(at + 1)
    if outline.is_name(at):
        if word in _ONLY_20 and before not in (".", "->", "::"):
            return word
        if word in _STD_20 and before == "::" and outline.text(at - 2) == "std":
            return f"std::{word}"
    elif word == "<" and behind == "=" and outline.text(at + 2) == ">":
        return "the operator <=>"
    return ""


def no_gm(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """A pointer into global memory that loses its __gm__ in a cast or a declaration. [qualifiers]"""
    outline = code.outline
    if node.kind != "function":
        return
    known = _global_pointers(outline, node)
    for at in range(*node.body):
        if outline.text(at) not in known or outline.tokens[at].kind != "name":
            continue
        begin = _type_before(outline, at, node.body[0])
        words = [outline.text(one) for one in range(begin, at)]
        if begin < at and not {"__gm__", "GM_ADDR", "auto"} & set(words):
            yield SourceFinding("language-no-gm", outline.tokens[at].line, {"name": outline.text(at)})


def _global_pointers(outline: Outline, node: Node) -> set[str]:
    """Parameters and variables of the function that are declared as pointers into global memory."""
    found, others = set(), set()
    for at in range(node.params[0], node.body[1]):
        if not outline.is_name(at):
            continue
        if outline.text(at) == "GM_ADDR" and outline.is_name(at + 1):
            found.add(outline.text(at + 1))
        elif outline.text(at) == "__gm__":
            here = at + 1
            while outline.is_name(here) or outline.text(here) in ("::", "*", "const"):
                if outline.text(here) == "*" and outline.is_name(here + 1) and outline.text(here + 2) in ",=;)":
                    found.add(outline.text(here + 1))
                here += 1
        elif outline.text(at - 1) == "." or outline.text(at - 1) == "->":
            others.add(outline.text(at))
    return found - others


def _type_before(outline: Outline, at: int, first: int) -> int:
    """Where the pointer type begins that the name at ``at`` is cast to or that is declared with it; ``at`` if none."""
    behind = outline.text(at + 1)
    if outline.text(at - 1) == "(" and outline.text(at - 2) == ">" and outline.text(at - 3) == "*":
        if behind not in (")", "+", "-"):
            return at
        here, depth = at - 2, 0
        while here > first:
            depth += {">": 1, "<": -1}.get(outline.text(here), 0)
            if depth == 0:
                return here if outline.text(here - 1) in ("reinterpret_cast", "static_cast") else at
            here -= 1
    elif outline.text(at - 1) == ")" and outline.text(at - 2) == "*" and behind in (")", ",", ";", "+", "-"):
        here = at - 3
        while here > first and (outline.is_name(here) or outline.text(here) in ("::", "*", "<", ">", ",")):
            here -= 1
        if outline.text(here) == "(" and not outline.is_name(here - 1):
            return here
        if outline.text(here) == "(" and outline.text(here - 1) == "return":
            return here
    elif outline.text(at - 1) == "=" and outline.is_name(at - 2) and outline.text(at - 3) == "*":
        if behind not in (";", "+", "-"):
            return at
        here = at - 3
        while here >= first and outline.text(here) not in (";", "{", "}", "("):
            here -= 1
        return here + 1
    return at


def _statement(outline: Outline, at: int) -> list[str]:
    """The words of the statement before ``at``, from its start."""
    words = []
    while at > 0 and outline.text(at - 1) not in (";", "{", "}"):
        at -= 1
        words.append(outline.text(at))
    return words


def _constant(code: DeviceCode, first: int, last: int) -> int | None:
    """The value of a product of numbers and named constants; None for anything else."""
    value = 1
    for at in range(first, last):
        word = code.outline.text(at)
        if (at - first) % 2:
            if word != "*":
                return None
            continue
        factor = _number(word) if code.outline.tokens[at].kind == "number" else _named_constant(code, word)
        if factor is None:
            return None
        value *= factor
    return value if last > first else None


def _number(word: str) -> int | None:
    try:
        return int(re.sub(r"(?<=[0-9a-fA-F])[uUlL]+$|'", "", word), 0)
    except ValueError:
        return None


def _named_constant(code: DeviceCode, name: str) -> int | None:
    for node in code.outline.nodes:
        if node.kind == "variable" and node.name == name and node.words & {"const", "constexpr"}:
            span = node.spans[0]
            for at in range(*span):
                if code.outline.text(at) == "=" and at + 2 == span[1] and code.outline.tokens[at + 1].kind == "number":
                    return _number(code.outline.text(at + 1))
    return None


#: Each rule, and the words without which it has nothing to find; none where signs alone may be enough.
RULES: tuple[tuple[Rule, frozenset[str]], ...] = (
    (virtual, frozenset()),  # a class mentions no word of its members' heads, where virtual stands
    (heap, _HEAP | {"new", "delete"}),
    (typeid, frozenset(("typeid", "dynamic_cast"))),
    (exceptions, frozenset(("try", "throw"))),
    (globals_, frozenset()),
    (double, frozenset(("double",))),
    (stack, frozenset(_SIZES)),
    (cpp20, _ONLY_20 | {"std", "auto", "operator"}),
    (no_gm, frozenset(("GM_ADDR", "__gm__"))),
)


def found_in(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """What one declaration has that device code may not have."""
    words = code.mentions(node)
    for rule, needed in RULES:
        if not needed or words & needed:
            yield from rule(code, node)
