"""How values flow through a kernel: from a statement back to loops, assignments, parameters and calls.

A file is read as the learner wrote it, without a compiler: what a macro does is not seen. A variable is known by its
declaration, not by its name (``variables``). Constants are not followed.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from gn_tutorial.cpp.declarators import NAMES, PARAMETERS, parameters
from gn_tutorial.cpp.syntax import Node, parse
from gn_tutorial.cpp.variables import Assignment, CallNode, Variable, VariableIndex, Variables, grouped

#: What ``SourceFlow.statement`` returns, for modules outside of this room.
Statement = Node
#: Steps from a variable to what its value is made of.
_DEPTH = 3
#: Parameters of one variable that are followed to calls.
_MOST_PASSED = 100
_MAKES_TENSORS = {"AllocTensor", "DeQue", "Get", "GetWithOffset", "ReinterpretCast"}
#: What has an operation. An outer one that has the line's code in an inner one is not taken.
_STATEMENTS = (
    "declaration", "expression_statement", "return_statement", "condition_clause", "field_declaration",
    "field_initializer",
)  # fmt: skip
#: What has no variable whose value counts.
_NO_VALUES = ("lambda_expression", "sizeof_expression", "type_descriptor", "template_argument_list",
              "qualified_identifier", "kernel_call_syntax")  # fmt: skip

#: What a line does, in English.
LABELS = _BEGINS, _SET, _COUNTS, _CALLED, _DECLARED, _ELEMENTS = (
    "begins here", "set here", "counts here", "called here", "declared here", "counts elements"
)  # fmt: skip


class Deciding(NamedTuple):
    """A line, the name that is marked in it, which of ``LABELS`` it does, and over how many other variables.

    start: where the name begins in the line, from 0.
    """

    line: int
    marked: str
    label: str
    steps: float = 0
    start: int = 0


class SourceFlow:
    """Where the variables of a statement of one text get their values."""

    def __init__(self, text: str) -> None:
        self._syntax = parse(text)
        self._variables = Variables(self._syntax)
        self._around = self._syntax.enclosing

    def statements(self, line: int, calls: Sequence[str] = ()) -> list[Node]:
        """Return the innermost statements with code in this line; if some call one of ``calls``, then only these.

        The first of ``calls`` that is called counts. Of ``for (...)`` each part is a statement, and of other loops and
        of conditions what is in the parentheses.
        """
        self._variables.begin()
        covering = [one for node in self._covering(line) for one in _statements(node) if self._covers(one, line)]
        outer = {above.id for one in covering for above in self._around(one, *_STATEMENTS)}
        inner = [one for one in covering if one.id not in outer]
        called = [{self._text(call.name) for call in self._calls(one)} for one in inner]
        sought = (name.rpartition("::")[2] for name in calls)
        each = ([one for one, names in zip(inner, called, strict=True) if name in names] for name in sought)
        return next((found for found in each if found), inner)

    def global_places(self, statement: Node, *, always: bool) -> Iterator[Deciding]:
        """What decides the places in global memory: the indices, and the memory that a GlobalTensor is given."""
        return self._places(statement, statement, always, set())

    def local_places(self, statement: Node) -> Iterator[Deciding]:
        """What decides the indices of the other tensors."""
        yield from self._values(self._indices(statement, of_global=False), statement)

    def lengths(self, statement: Node) -> Iterator[Deciding]:
        """What decides the numbers outside of tensors and their indices: a count, a number of repeats."""
        names = [one for one in self._read(statement, indices=False) if not self._is_global(one)]
        yield from self._values(names, statement)

    def layouts(self, statement: Node, said: str) -> Iterator[Deciding]:
        """Where the struct of a copy, its last arguments, is made or filled."""
        for struct in self._read(statement):
            if not self._type(struct).endswith("Params"):
                continue
            made = self._assigned(struct, statement)
            if made is not None and not _is_empty(made.value):
                yield self._deciding(made.name, _SET)
                yield from self._values(self._made_of(made), made.name, 1)
            every = self._fields_set.get(struct.key, [])
            fields = [one for one in every if self._is_before(one.name, statement)]
            if not fields:  # those of a member, in another function
                fields = [one for one in every if self._function(one.name) != self._function(statement)]
            named = [one for one in fields if self._text(one.name) in said]
            yield from (self._deciding(one.name, _SET, 0 if named else 2) for one in named or fields)

    def tensors(self, statement: Node) -> Iterator[Deciding]:
        """Where the tensors of a statement were taken from a queue or a buffer."""
        for variable in self._read(statement):
            yield from self._taken(variable, statement, set())

    def _taken(self, tensor: Variable, at: Node, passed: set[object]) -> Iterator[Deciding]:
        before = [one for one in self._set(tensor) if one.name.start_byte < at.start_byte]
        taken = [one for one in before if self._makes_tensor(one)]
        if taken:
            yield self._deciding(taken[-1].name, _SET)
            return
        sources = [self._results(one, tensor, passed) for one in before[-1:]] or [self._arguments(tensor, passed)]
        for node, names in (one for source in sources for one in source):
            yield from (found for one in names for found in self._taken(one, node, passed))

    # --- declarations ------------------------------------------------------------------------------------------------

    def queues(self, name: str) -> Iterator[Deciding]:
        """Where queues of this name are declared."""
        for _, declared, _ in self._declarations("TQue", "TQueBind"):
            if self._text(declared) == name:
                yield self._deciding(declared, _DECLARED)

    def narrow_integers(self, bits: int) -> Iterator[Deciding]:
        """Where unsigned integers of so many bits are declared with a value."""
        yield from (self._deciding(of, _DECLARED) for of, _, value in self._declarations(f"uint{bits}_t") if value)

    def sizes_in_indices(self) -> Iterator[Deciding]:
        """Where an index contains ``sizeof``."""
        for one in self._variables.nodes:
            if one.type == "sizeof_expression" and any(self._around(one, "subscript_argument_list")):
                yield self._deciding(one.children[0], _ELEMENTS)

    def _declarations(self, *types: str) -> Iterator[tuple[Node, Node, Sequence[Node]]]:
        """Yield the type, the name and the value of each variable of these types, parameters apart."""
        for node in self._variables.nodes:
            of = node.child_by_field_name("type") if node.type in ("declaration", "field_declaration") else None
            if of is not None and self._variables.last_name(of) in types:
                yield from ((of, *one) for one in self._variables.declared_in(node))

    # --- from a variable to its value --------------------------------------------------------------------------------

    def _places(self, node: Node, at: Node, always: bool, passed: set[object]) -> Iterator[Deciding]:
        """What decides the places in an expression; for a parameter, those in the calls of its function."""
        yield from self._values(self._indices(node, of_global=True), at)
        for tensor in self._read(node, objects=True):
            if self._is_global(tensor):
                yield from self._given(tensor, always)
                for argument, _ in self._arguments(tensor, passed):
                    yield from self._called(argument, 0)
                    yield from self._places(argument, argument, always, passed)

    def _given(self, tensor: Variable, always: bool) -> Iterator[Deciding]:
        """Where a GlobalTensor is given its memory, and the variables in that; always, or where an offset is added."""
        for call in self._begins.of(tensor):
            if always or self._adds(call):
                yield self._deciding(call.name, _BEGINS, 0.5)
                yield from self._values([read for one in call.arguments for read in self._read(one)], call.node, 1)

    def _adds(self, call: CallNode) -> bool:
        every = (one for argument in call.arguments for one in self._variables.below(argument))
        return any(one.type == "binary_expression" and one.children[1].type == "+" for one in every)

    def _values(
        self, names: Sequence[Variable], at: Node, steps: float = 0, passed: set[object] | None = None
    ) -> Iterator[Deciding]:
        """Where variables get their values before the node ``at``, and what those are made of.

        passed: parameters that have been followed to the calls of their function, each once: functions may call each
        other.
        """
        if steps >= _DEPTH:
            return
        passed = set() if passed is None else passed
        for name in names:
            if self._type(name).endswith("Params"):
                continue  # ``layouts`` shows it
            if made := self._assigned(name, at):
                yield self._deciding(made.name, _COUNTS if self._loop(made.name) else _SET, steps)
                others = [one for one in self._made_of(made) if not one.same(name)]
                yield from self._values(others, made.name, steps + 1, passed)
                continue
            for argument, others in self._arguments(name, passed):
                calls = list(self._called(argument, steps)) if len(name.key) == 1 else []
                yield from calls
                yield from self._values(others, argument, steps + len(calls), passed)
            whole = Variable(name.key[:1], name.declared, name.declared)
            made = self._assigned(whole, at) if len(name.key) > 1 and name.declared else None
            for result, others in self._results(made, name, passed) if made else ():
                yield from self._values(others, result, steps + 1, passed)

    def _called(self, argument: Node, steps: float) -> Iterator[Deciding]:
        """The call of an argument, if a number is made in it, not only passed on."""
        around = next(self._around(argument, "call_expression"), None) if argument.child_count > 0 else None
        calls = (one for one in self._calls_at.get(around.id if around else 0, ()) if argument in one.arguments)
        yield from (self._deciding(one.name, _CALLED, steps) for one in calls)

    def _arguments(self, name: Variable, passed: set[object]) -> Iterator[tuple[Node, list[Variable]]]:
        """Yield what calls pass for a parameter, or for the object of a field, and the variables in that."""
        function, number = self._parameter(name)
        if function is None or name.key in passed or len(passed) == _MOST_PASSED:
            return
        passed.add(name.key)
        for call in self._variables.calls_of(function):
            for argument in call.arguments[number : number + 1]:
                yield argument, self._read(argument, fields=name.key[1:])

    def _results(self, made: Assignment, name: Variable, passed: set[object]) -> Iterator[tuple[Node, list[Variable]]]:
        """Yield what the function returns whose call is the value, and the variables in that."""
        calls = (one for value in made.value for one in self._calls_at.get(value.id, ()))
        for function in (one for call in calls for one in self._variables.called(call) if one.id not in passed):
            passed.add(function.id)
            returned = (one for one in self._variables.below(function) if one.type == "return_statement")
            yield from ((one, self._read(one, fields=name.key[1:])) for one in returned)

    def _assigned(self, variable: Variable, at: Node) -> Assignment | None:
        """The last assignment of a variable before ``at`` in its function, or of a member anywhere."""
        every = self._set(variable)
        before = next((one for one in reversed(every) if self._is_before(one.name, at)), None)
        if before is not None:
            return None if self._is_fixed(before) else before
        outside = [one for one in every if self._parameter(variable)[0] is None and not self._is_fixed(one)]
        # The value that a member has in its class is only a default.
        own = variable.own.at if variable.own else None
        return next((one for one in outside if one.name != own), next(iter(outside), None))

    def _set(self, variable: Variable) -> list[Assignment]:
        return self._assignments.of(variable)

    @functools.cached_property
    def _assignments(self) -> VariableIndex[Assignment]:
        return VariableIndex((one.variable, one) for one in self._variables.assignments)

    @functools.cached_property
    def _fields_set(self) -> dict[Hashable, list[Assignment]]:
        """The assignments to the fields of each variable, by its key."""
        return grouped(self._variables.assignments, lambda one: one.variable.key[:-1])

    def _made_of(self, made: Assignment) -> list[Variable]:
        loop = self._loop(made.name)
        counted = [] if loop is None else [loop.child_by_field_name(one) for one in ("condition", "update")]
        return [read for one in counted or made.value if one is not None for read in self._read(one)]

    def _is_fixed(self, made: Assignment) -> bool:
        of = next(self._around(made.name, "declaration", "field_declaration"), made.name)
        declares = any(name == made.name for name, _ in self._variables.declared_in(of))
        constant = declares and any(self._text(one) == "constexpr" for one in of.named_children)
        return constant or self._makes_tensor(made)

    def _makes_tensor(self, made: Assignment) -> bool:
        """Whether the value is a tensor: of a queue or a buffer, or a view of one."""
        return any(self._text(call.name) in _MAKES_TENSORS for one in made.value for call in self._calls(one))

    def _type(self, variable: Variable) -> str:
        return self._variables.type_of(variable)

    def _is_global(self, variable: Variable) -> bool:
        return self._type(variable) == "GlobalTensor" or bool(self._begins.of(variable))

    @functools.cached_property
    def _begins(self) -> VariableIndex[CallNode]:
        """The calls of SetGlobalBuffer, by their tensors."""
        calls = (one for one in self._variables.calls if self._text(one.name) == "SetGlobalBuffer")
        return VariableIndex((of, one) for one in calls if one.of and (of := self._variables.variable(one.of)))

    # --- places ------------------------------------------------------------------------------------------------------

    def _function(self, node: Node) -> Node | None:
        return next(self._around(node, "function_definition"), None)

    def _is_before(self, name: Node, at: Node) -> bool:
        """Whether a name stands before a node in the same function; lambdas belong to the function around them."""
        return name.start_byte < at.start_byte and self._function(name) == self._function(at)

    def _loop(self, name: Node) -> Node | None:
        """Return the for in whose parentheses a name is set."""
        loop = next(self._around(name, "for_statement", "for_range_loop", "compound_statement"), None)
        parts = [loop.child_by_field_name(one) for one in ("initializer", "update", "declarator")] if loop else []
        return loop if any(one and one.start_byte <= name.start_byte < one.end_byte for one in parts) else None

    def _parameter(self, variable: Variable) -> tuple[Node | None, int]:
        """Return the function or lambda whose parameter a variable is, and the parameter's number; None for another."""
        name = variable.declared.at if variable.declared else None
        declaration = next(self._around(name, *PARAMETERS, "compound_statement"), None)
        function = next(self._around(declaration, "function_definition", "lambda_expression"), None)
        listed = parameters(function) if function else []
        return (function, listed.index(declaration)) if declaration in listed else (None, 0)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _indices(self, statement: Node, *, of_global: bool) -> list[Variable]:
        """The variables in the indices of tensors of global memory, or of all else."""
        found = []
        for one in self._variables.below(statement):
            argument = one.child_by_field_name("argument") if one.type == "subscript_expression" else None
            tensor = self._variables.variable(argument) if argument is not None else None
            if tensor is not None and self._is_global(tensor) == of_global:
                found += [read for index in one.children_by_field_name("indices") for read in self._read(index)]
        return found

    def _read(
        self, root: Node, *, indices: bool = True, objects: bool = False, fields: Sequence[int | str] = ()
    ) -> list[Variable]:
        """The variables in an expression or in what a statement declares, each once.

        indices: also those in indices. objects: also those whose functions are called. fields: not the variables, but
        these fields of theirs.
        """
        found: dict[object, Variable] = {}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            variable = self._variables.variable(node) if node.type in (*NAMES, "field_expression") else None
            for field in fields if variable is not None else ():
                variable = self._variables.field(variable, str(field))
            if variable is not None:
                found.setdefault(variable.key, variable)
            waiting += reversed(self._parts(node, indices, objects))
        return list(found.values())

    def _parts(self, node: Node, indices: bool, objects: bool) -> list[Node]:
        """The parts of an expression or a declaration in which variables are read."""
        kind, argument = node.type, node.child_by_field_name("argument")
        if kind in _NO_VALUES:
            return []
        if kind == "field_expression":
            while argument is not None and argument.type == "field_expression":
                argument = argument.child_by_field_name("argument")
            return [argument] if argument and argument.type not in (*NAMES, "this") else []
        if kind == "call_expression":
            function = node.child_by_field_name("function")
            of = function.child_by_field_name("argument") if function else None
            own = [] if function is None or of is None else [of] if objects else self._parts(function, indices, objects)
            return [*own, *node.children_by_field_name("arguments")]
        if kind == "subscript_expression" and not indices:
            return [argument] if argument else []
        if kind == "assignment_expression" and node.children[0].type != "subscript_expression":
            return self._variables.children(node)[1:]
        if kind in ("declaration", "field_declaration"):
            return [one for _, value in self._variables.declared_in(node) for one in value]
        if kind == "parameter_declaration":  # of what the parser takes for a function
            return node.children_by_field_name("type")
        return self._variables.children(node)

    def _calls(self, node: Node) -> list[CallNode]:
        begin, end = (bisect_left(self._call_starts, at) for at in (node.start_byte, node.end_byte))
        return self._variables.calls[begin:end]

    @functools.cached_property
    def _call_starts(self) -> list[int]:
        return [one.node.start_byte for one in self._variables.calls]

    @functools.cached_property
    def _calls_at(self) -> dict[Hashable, list[CallNode]]:
        """Each call by the id of its node."""
        return grouped(self._variables.calls, lambda one: one.node.id)

    def _text(self, node: Node) -> str:
        return self._syntax.text(node)

    def _covering(self, line: int) -> Iterator[Node]:
        """Yield the nodes with code in a line, outer before inner, in text order."""
        waiting = [self._syntax.root]
        while waiting:
            node = waiting.pop()
            if self._covers(node, line):
                yield node
                waiting += reversed(self._variables.children(node))

    def _covers(self, node: Node, line: int) -> bool:
        return self._syntax.line(node) <= line <= self._syntax.last_line(node)

    def _deciding(self, name: Node, label: str, steps: float = 0) -> Deciding:
        syntax = self._syntax
        return Deciding(syntax.line(name), self._text(name), label, steps, syntax.column(name) - 1)


def _statements(node: Node) -> list[Node]:
    """Return the statement that a node is, or those that a for has in its parentheses."""
    if node.type == "for_statement":
        parts = [node.child_by_field_name(one) for one in ("initializer", "condition", "update")]
        return [one for one in parts if one is not None and one.type not in _STATEMENTS]
    if node.type == "for_range_loop":
        return node.children_by_field_name("right")
    return [node] if node.type in _STATEMENTS else []


def _is_empty(value: Sequence[Node]) -> bool:
    return all(one.type in ("initializer_list", "argument_list") and not one.named_child_count for one in value)
