"""Numbers that nothing gives a value, or too late: members of a kernel's class, and variables of a function.

A variable counts only if no place of the source may write it: what is assigned on one path, or whose address or
reference goes anywhere, is left to the run, where such variables hold a pattern (gn_twin/events/wild_values.h). A sum
that begins with ``+=`` counts as read only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from gn_tutorial.cpp.code_parts import CodePart
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding, between
from gn_tutorial.cpp.names import leaf_of
from gn_tutorial.cpp.scopes import CLASSES, Declaration
from gn_tutorial.cpp.syntax import Node

#: Types whose variables begin with what was in memory. A name of the source's own may have a constructor.
_NUMBERS = frozenset(
    """bool char short int long unsigned signed float double half bfloat16_t int8_t uint8_t int16_t uint16_t int32_t
    uint32_t int64_t uint64_t size_t""".split()
)
#: Functions of CANN that write into arguments that are numbers.
_WRITE_ARGUMENTS = ("GetReduce", "GET_TILING", "COPY_TILING", "GetMrgSort", "GetUintDiv", "GatherMask", "memcpy",
                    "memset")  # fmt: skip
#: What such a function runs once, because it makes buffers.
_ONCE = frozenset(("InitBuffer", "SetGlobalBuffer"))
#: Around a name that is as the name itself.
_SAME = ("parenthesized_expression", "conditional_expression", "comma_expression", "condition_clause")
#: Around a name that is only read there.
_READS = ("binary_expression", "unary_expression", "update_expression", "expression_statement", "if_statement",
          "while_statement", "for_statement", "do_statement", "switch_statement", "case_statement",
          "subscript_argument_list", "array_declarator", "throw_statement", "init_statement")  # fmt: skip
#: Around a name that is not evaluated there.
_UNEVALUATED = ("sizeof_expression", "alignof_expression", "decltype")
_BY_VALUE = ("primitive_type", "sized_type_specifier")


def never_set(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding where a number is read that nothing writes, or before anything does."""
    for part in code.parts:
        if part.kind == "variable" and part.owner and _has_no_value(code, part.node):
            yield from _of_members(code, part)
    for node in code.nodes["declaration"]:
        names = [one for one in node.children_by_field_name("declarator") if one.type == "identifier"]
        function = code.function_of(node) if names else None
        if function is None or function.node.has_error or function.words & {"constexpr", "consteval"}:
            continue
        if _is_begun(code, node):
            yield from _of_locals(code, names, node, function)


def _of_members(code: DeviceCode, part: CodePart) -> Iterator[SourceFinding]:
    for declarator, name in zip(part.node.children_by_field_name("declarator"), part.names, strict=True):
        places = [one for one in code.names.get(name, ()) if one.start_byte != declarator.start_byte]
        if not places or _is_written_first(code, places) or not _is_kernel_class(code, part.owner):
            continue
        variable = SuspectedVariable.member(code, part, name)
        if variable is None:
            continue
        if not variable.may_be_written:
            yield from variable.finding(variable.reads)
        elif (function := variable.written_in) is not None:
            once = function.name == function.owner or any(
                code.function_of(one) is function for word in _ONCE for one in code.names.get(word, ())
            )
            yield from variable.finding(variable.early_reads(function.body), late=True) if once else ()


def _of_locals(code: DeviceCode, names: list[Node], node: Node, function: CodePart) -> Iterator[SourceFinding]:
    for declared in names:
        name, end = code.text(declared), function.node.end_byte
        places = between(code.names.get(name, []), declared.end_byte, end)
        if not places or places[0].start_byte in code.assigned or name in code.unread:
            continue
        scope = code.scoped.scope_at(node)
        found = next((one for one in scope.declared.get(name, ()) if one.start == declared.start_byte), None)
        variable = SuspectedVariable(code, name, found, places) if found is not None else None
        if variable is not None and not variable.may_be_written:
            yield from variable.finding(variable.reads)
        elif variable is not None:
            yield from variable.finding(variable.early_reads(node.end_byte), late=True)


def _is_written_first(code: DeviceCode, places: list[Node]) -> bool:
    """Whether the first place in the function that assigns is the assignment: neither unwritten nor too late."""
    assigned = next((one for one in places if one.start_byte in code.assigned), None)
    function = code.function_of(assigned) if assigned is not None else None
    if function is None:
        return False
    inside = next(one for one in places if one.start_byte >= function.body)
    return inside.start_byte in code.assigned or code.function_of(inside) is not function


@dataclass
class SuspectedVariable:
    """A variable or a member, and the places of its name, in text order."""

    code: DeviceCode
    name: str
    declared: Declaration
    places: list[Node]

    @classmethod
    def member(cls, code: DeviceCode, part: CodePart, name: str) -> SuspectedVariable | None:
        """Return a member of a class; None if its places are not all known."""
        scope = code.scoped.scope_at(part.node)
        found = scope.declared.get(name, [])
        if len(found) != 1 or name in code.unread or part.node.has_error:
            return None
        return cls(code, name, found[0], [one for one in code.names[name] if one.start_byte != found[0].start])

    @cached_property
    def _meanings(self) -> list[tuple[Node, bool | None]]:
        """The places, each with whether it means this variable; None if that is not known."""
        found: list[tuple[Node, bool | None]] = []
        for node in self.places:
            if node.start_byte in self.code.scoped.names_at:
                continue  # it declares another one
            if (meant := self.code.scoped.meant(node)) is None:
                fields = self._fields(node)
                found.append((node, self.declared in fields if fields else None))
            elif not meant:
                found.append((node, None))
            else:
                found.append((node, True if meant == [self.declared] else None if self.declared in meant else False))
        return found

    def _fields(self, node: Node) -> list[Declaration]:
        around = self.code.syntax.parent(node)
        return self.code.scoped.fields(around) if around is not None and around.type == "field_expression" else []

    @property
    def reads(self) -> list[Node]:
        """Where it is read for certain."""
        return [
            one
            for one, own in self._meanings
            if own and not may_write(self.code, one) and _is_evaluated(self.code, one)
        ]

    @cached_property
    def writes(self) -> list[Node]:
        """Where it may be written."""
        return [one for one, own in self._meanings if own is not False and may_write(self.code, one)]

    @property
    def may_be_written(self) -> bool:
        """Whether a place may write it."""
        return bool(self.writes)

    @property
    def written_in(self) -> CodePart | None:
        """The one function with all writes, if no parameter of it has the name."""
        functions = {self.code.function_of(one) for one in self.writes}
        function = functions.pop() if len(functions) == 1 else None
        return function if function is not None and function.declarator is not None else None

    def early_reads(self, begin: int) -> list[Node]:
        """Return the reads between an offset and the first write; no loop and no lambda may stand there."""
        first = self.writes[0].start_byte
        if any(between(nodes, begin, first) for nodes in self.code.loops.values()):
            return []
        return [one for one in self.reads if begin <= one.start_byte < first]

    def finding(self, reads: list[Node], *, late: bool = False) -> Iterator[SourceFinding]:
        """Yield the finding at the first ``+=`` and the like, else at the first read. late: a write stands below."""
        live = [one for one in reads if self.code.is_live(one)]
        sums = [one for one in live if _is_sum(self.code, one)]
        for one in (sums or live)[:1]:
            cause = "set-too-late" if late else ""
            yield self.code.finding("never-set", one, name=self.name, op=self.name, cause=cause)


def is_number(code: DeviceCode, kind: Node) -> bool:
    """Return whether a type is a number."""
    words = frozenset(re.findall(r"\w+", code.text(kind)))
    return bool(words) and words <= _NUMBERS and not any(one in code.named for one in words)


def _is_begun(code: DeviceCode, node: Node) -> bool:
    """Whether a declaration begins with its type, which is a number, and leaves its variables without a value."""
    kind = node.child_by_field_name("type")
    return kind is not None and kind.start_byte == node.start_byte and is_number(code, kind)


def _has_no_value(code: DeviceCode, node: Node) -> bool:
    """Whether a field's declaration declares names alone, of a number's type."""
    others = {one.type for one in node.named_children if one.type not in ("field_identifier", "comment")}
    return node.type == "field_declaration" and len(others) == 1 and _is_begun(code, node)


def _is_sum(code: DeviceCode, node: Node) -> bool:
    whole, around = _whole(code, node)
    if around is None or around.type != "assignment_expression" or around.child_by_field_name("left") != whole:
        return False
    operator = around.child_by_field_name("operator")
    return operator is not None and code.text(operator) in ("+=", "-=", "*=", "/=")


def _whole(code: DeviceCode, node: Node) -> tuple[Node, Node | None]:
    """Return ``object.name`` around a name, else the name; and what is around that."""
    around = code.syntax.parent(node)
    if around is not None and around.type == "field_expression" and around.child_by_field_name("field") == node:
        return around, code.syntax.parent(around)
    return node, around


def _is_evaluated(code: DeviceCode, node: Node) -> bool:
    around = code.syntax.parent(node)
    while around is not None and "statement" not in around.type and around.type != "declaration":
        if around.type in _UNEVALUATED:
            return False
        around = code.syntax.parent(around)
    return True


def may_write(code: DeviceCode, node: Node) -> bool:
    """Return whether a place gives the name a value, or hands it to somebody who may."""
    below, around = _whole(code, node)
    while around is not None and around.type in _SAME:
        below, around = around, code.syntax.parent(around)
    if around is None:
        return True
    match around.type:
        case kind if kind in _READS or kind in _UNEVALUATED:
            return False
        case "assignment_expression":
            operator = around.child_by_field_name("operator")
            plain = operator is None or code.text(operator) == "="
            return plain and around.child_by_field_name("left") == below
        case "init_declarator":
            declarator = around.child_by_field_name("declarator")
            return declarator is None or declarator.type == "reference_declarator"
        case "return_statement":
            return _returns_reference(code, around)
        case "cast_expression":
            kind_node = around.child_by_field_name("type")
            return kind_node is None or "&" in code.text(kind_node)
        case "argument_list":
            return _callee_writes(code, around)
        case "initializer_list":
            return _may_refer(code, around)
    return True


def _returns_reference(code: DeviceCode, node: Node) -> bool:
    around = next(code.syntax.enclosing(node, "function_definition", "lambda_expression"), None)
    declarator = around.child_by_field_name("declarator") if around is not None else None
    if around is None or around.type == "lambda_expression":
        return declarator is not None and "->" in code.text(declarator)
    return declarator is None or declarator.type == "reference_declarator" or "->" in code.text(declarator)


def _callee_writes(code: DeviceCode, given: Node) -> bool:
    """Whether a call may take an argument by reference."""
    call = code.syntax.parent(given)
    function = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
    if function is None:
        return True  # of a constructor
    if function.type in _BY_VALUE:
        return False
    if function.type == "template_function":
        types = function.child_by_field_name("arguments")
        if types is not None and "&" in code.text(types):
            return True
    leaf = leaf_of(function)
    name = code.text(leaf) if leaf.type.endswith("identifier") else ""
    if not name or name.startswith(_WRITE_ARGUMENTS):
        return True
    own = code.named.get(name, ())
    if any(part.kind != "function" or _takes_reference(code, part) for part in own):
        return True
    if not own and name.isupper() and len(name) > 1 and function.type == "identifier":
        return True  # a macro of a header
    # A declaration may take a reference, and what is named like a function may be a lambda.
    declared = code.scoped.declared.get(name, ())
    return any(one.kind == "value" or _has_reference(code, one) for one in declared)


def _takes_reference(code: DeviceCode, part: CodePart) -> bool:
    parameters = part.declarator.child_by_field_name("parameters") if part.declarator is not None else None
    return parameters is None or "&" in code.text(parameters)


def _has_reference(code: DeviceCode, declared: Declaration) -> bool:
    node = declared.node
    return node is not None and node.type in ("declaration", "field_declaration") and "&" in code.text(node)


def _may_refer(code: DeviceCode, values: Node) -> bool:
    """Whether an object in braces may keep a reference: that of a class of the text."""
    around = code.syntax.parent(values)
    while around is not None and around.type in ("initializer_list", "argument_list", "init_declarator"):
        around = code.syntax.parent(around)
    kind = around.child_by_field_name("type") if around is not None else None
    if kind is None:
        return around is None or around.type not in ("call_expression", "assignment_expression", "return_statement")
    return bool(
        {part.kind for one in re.findall(r"\w+", code.text(kind)) for part in code.named.get(one, ())} - {"host"}
    )


# --- classes ---------------------------------------------------------------------------------------------------------


def _is_kernel_class(code: DeviceCode, name: str) -> bool:
    """Whether it has device functions, and no object of it can begin with zeros or as a copy of memory."""
    classes = [one for one in code.named.get(name, ()) if one.kind == "class"]
    functions = [one for one in code.parts if one.kind == "function" and one.owner == name and one.is_device]
    if len(classes) != 1 or not functions or "union_specifier" in classes[0].words or name in code.unread:
        return False
    return not any(_may_be_zero(code, one, name) for one in code.names[name])


def _may_be_zero(code: DeviceCode, node: Node, name: str) -> bool:
    """Whether a place makes an object with a value, or a pointer to one."""
    around = code.syntax.parent(node)
    while around is not None and around.type in ("template_type", "template_function", "qualified_identifier"):
        around = code.syntax.parent(around)
    if around is None:
        return True
    match around.type:
        case kind if kind in CLASSES or kind in ("destructor_name", "function_declarator"):
            return False
        case "base_class_clause" | "alias_declaration":
            return True
        case "declaration" | "parameter_declaration" | "field_declaration" | "optional_parameter_declaration":
            plain = ("identifier", "reference_declarator", "function_declarator", "field_identifier")
            local = code.function_of(node) is not None or around.type == "parameter_declaration"
            own = around.type == "field_declaration" and code.text(around).startswith(name + "(")
            declarators = around.children_by_field_name("declarator")
            return not own and (not local or any(_kind(one) not in plain for one in declarators))
        case "function_definition" | "using_declaration" | "friend_declaration":
            return False
    return True


def _kind(declarator: Node) -> str:
    """Return the type of a declarator; of ``op(1, 2)``, which calls a constructor, that of its name."""
    value = declarator.child_by_field_name("value")
    if declarator.type == "init_declarator" and value is not None and value.type == "argument_list":
        inner = declarator.child_by_field_name("declarator")
        return inner.type if inner is not None and value.named_child_count else declarator.type
    return declarator.type
