"""What the variables and the calls of a text mean: each by its declaration, and the expressions that give it a value.

The text is read as it was written: no directive is applied, except that ``#if 0`` is left out. Nothing in an error of
the parser is read.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from gn_tutorial.cpp.declarators import NAMES, PARAMETERS, arity, declared, parameters
from gn_tutorial.cpp.names import leaf_of, parts_of, path_of
from gn_tutorial.cpp.scoped_text import ScopedText
from gn_tutorial.cpp.scopes import Declaration, FunctionDefinition, Scope
from gn_tutorial.cpp.syntax import Node, Syntax

T = TypeVar("T")
_VARIABLES = ("declaration", "field_declaration", "for_range_loop")
_DECLARATIONS = (*_VARIABLES, *PARAMETERS, "lambda_capture_initializer")
_ASSIGNING = frozenset((*_VARIABLES, "lambda_capture_initializer", "field_initializer", "assignment_expression"))


class Variable(NamedTuple):
    """A variable, or a field of one.

    key: where the variable is declared, or its name if the text does not declare it; then the names of the fields.
    declared: the declaration of the variable. own: the same, or the declaration of the field.
    """

    key: tuple[int | str, ...]
    declared: Declaration | None
    own: Declaration | None

    def same(self, other: Variable) -> bool:
        """Whether both are one variable. A member that its class names without an object is that of any object."""
        of_class = self.own is not None and 1 in (len(self.key), len(other.key))
        return self.key == other.key or (of_class and self.own == other.own)


class Assignment(NamedTuple):
    """A variable gets a value, or is declared with one. name: the variable's last name there."""

    name: Node
    variable: Variable
    value: Sequence[Node]


class CallNode(NamedTuple):
    """A call. name: the last name of what is called. of: the object or pointer whose function it is, if any."""

    node: Node
    name: Node
    of: Node | None
    arguments: Sequence[Node]


class Variables:
    """The variables of one text. nodes: the named nodes of the text, outer before inner."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax, self.text = syntax, syntax.text
        self._scoped = ScopedText(syntax, Scope("namespace"))
        self.nodes = list(self.below(syntax.root))

    def begin(self) -> None:
        """Begin a question: what the lookups of the one before visited does not count."""
        self._scoped.root.steps.refill()

    def below(self, root: Node) -> Iterator[Node]:
        """Yield ``root`` and the named nodes in it, outer before inner, in text order."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(self.children(node))

    def children(self, node: Node) -> list[Node]:
        """Return the named children, none in an error, of ``#if 0`` only the other branch."""
        if node.type == "preproc_if" and self._syntax.is_off(node):
            return node.children_by_field_name("alternative")
        if node.is_error:
            return []
        return [one for one in node.named_children if not (one.is_error or one.is_missing or one.type == "comment")]

    # --- declarations ------------------------------------------------------------------------------------------------

    def declaration_of(self, name: Node) -> Declaration | None:
        """Return the declaration of the variable that a name means; None for one that the text does not declare."""
        of_members = name.id in self._initialised
        around = self._scoped.candidates(self.text(name), name)
        named = (_variables(here) for scope, here in around if scope.kind == "class" or not of_members)
        return next((found[-1] for found in named if found), None)

    @functools.cached_property
    def _initialised(self) -> set[int]:
        """The ids of the members to which a constructor's ``: member(value)`` gives a value."""
        return {one.id for node in self.nodes if node.type == "field_initializer" for one in node.named_children[:1]}

    def variable(self, node: Node) -> Variable | None:
        """Return what an expression names, an element of an array like the array; None for any other expression."""
        argument, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if node.type == "parenthesized_expression":
            argument = next(iter(self.children(node)), None)
        if node.type in NAMES:
            return self._variable(node, self.declaration_of(node))
        if node.type == "field_expression" and argument and name:
            if argument.type == "this":
                return self._variable(name, next(iter(_variables(self._scoped.members(name))), None))
            of_object = self.variable(argument)
            return self.field(of_object, self.text(name)) if of_object else None
        if node.type in ("subscript_expression", "pointer_expression", "parenthesized_expression") and argument:
            return self.variable(argument)
        return None

    def field(self, variable: Variable, name: str) -> Variable:
        """Return a field of a variable."""
        of = self._class_of(variable)
        members = _variables(self._scoped.visible(of, name)) if of else []
        return Variable((*variable.key, name), variable.declared, members[-1] if members else None)

    def _variable(self, name: Node, own: Declaration | None) -> Variable:
        if own is not None:
            return Variable((own.start,), own, own)
        # Without a declaration, functions of one class share the variables of a name.
        around = self._scoped.scope_at(name).outward()
        owner = next((one.name for one in around if one.kind == "class" and one.name), "")
        return Variable((f"{owner}::{self.text(name)}",), None, None)

    def declared_in(self, node: Node) -> Iterator[tuple[Node, Sequence[Node]]]:
        """Yield the names of the variables that a node declares, each with its value, if any."""
        if node.type not in _DECLARATIONS:
            return
        if node.type == "lambda_capture_initializer":
            yield from ((one, self.children(node)[1:]) for one in node.children_by_field_name("left"))
        behind = {one.id for word in ("default_value", "right") for one in node.children_by_field_name(word)}
        next_of = {one.id: other for one, other in itertools.pairwise(node.named_children if behind else ())}
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.children_by_field_name("value")
            after = next_of.get(declarator.id)
            value = value or ([after] if after is not None and after.id in behind else [])
            for name, function in declared(declarator):
                if function is None or self._scoped.scope_at(node).local:
                    yield name, value or declarator.children_by_field_name("parameters")

    # --- types -------------------------------------------------------------------------------------------------------

    def _class_of(self, variable: Variable) -> Scope | None:
        """Return the class of a variable; of an unknown path the only class with the last name."""
        of, own = self._type(variable), variable.own
        if of is None or own is None:
            return None
        return own.place.scope.find(path_of(of, self.text)) or self._only_class(self.last_name(of))

    def _only_class(self, name: str) -> Scope | None:
        named = self._classes.get(name, [])
        return named[0] if len(named) == 1 else None

    @functools.cached_property
    def _classes(self) -> dict[Hashable, list[Scope]]:
        classes = (one for one in self._scoped.inside.values() if one.kind == "class" and one.name)
        return grouped(classes, lambda one: one.name)

    def type_of(self, variable: Variable) -> str:
        """Return the last name of the type, empty if it is not known. ``auto`` has the type of a value ``T(...)``."""
        of = self._type(variable)
        return self.last_name(of) if of else ""

    def _type(self, variable: Variable) -> Node | None:
        own = variable.own
        declaration = next(self._syntax.enclosing(own.at, *_DECLARATIONS), None) if own else None
        of = declaration.child_by_field_name("type") if declaration else None
        if own and declaration and of and of.type == "placeholder_type_specifier":
            value = next(iter(dict(self.declared_in(declaration)).get(own.at, ())), of)  # type: ignore[call-overload]
            return value.child_by_field_name("type") or value.child_by_field_name("function")
        return of

    def known_type(self, node: Node) -> str:
        """Return the last name of an expression's type; empty if it is not known, and for a template's parameter."""
        variable = self.variable(node)
        of = self._type(variable) if variable else None
        if of is None or variable is None or variable.own is None:
            return ""
        name = leaf_of(of)
        if name.type != "type_identifier":
            return self.text(of) if of.type in ("primitive_type", "sized_type_specifier") else ""
        meant = self._scoped.meant_by(self.text(name), variable.own.at or node) or ()
        return "" if any(one.place.scope.kind == "template" for one in meant) else self.text(name)

    def last_name(self, node: Node) -> str:
        """Return the last name of a type or a function, without its scope and its template arguments."""
        return self.text(leaf_of(node))

    # --- values and calls --------------------------------------------------------------------------------------------

    @functools.cached_property
    def assignments(self) -> list[Assignment]:
        """All assignments, in text order; an element of an array is no variable."""
        found = []
        for node in (one for one in self.nodes if one.type in _ASSIGNING):
            given = list(self.declared_in(node))
            if node.type in ("field_initializer", "assignment_expression") and not _is_compound(node):
                target, *value = self.children(node) or [node]
                while target.type in ("pointer_expression", "parenthesized_expression") and target.named_children:
                    target = target.named_children[0]
                given = [(target, value)] if target.type in (*NAMES, "field_expression") else []
            for name, value in given:
                variable = self.variable(name) if value else None
                if variable is not None:
                    found.append(Assignment(name.child_by_field_name("field") or name, variable, value))
        return found

    @functools.cached_property
    def calls(self) -> list[CallNode]:
        """All calls, in text order."""
        found = []
        for node in (one for one in self.nodes if one.type == "call_expression"):
            function, arguments = (node.child_by_field_name(one) for one in ("function", "arguments"))
            if function is not None and arguments is not None:
                of = function.child_by_field_name("argument")
                found.append(CallNode(node, leaf_of(function), of, self.children(arguments)))
        return found

    @functools.cached_property
    def _calls_named(self) -> dict[Hashable, list[CallNode]]:
        return grouped(self.calls, lambda one: self.text(one.name))

    @functools.cached_property
    def _functions(self) -> dict[Hashable, list[FunctionDefinition]]:
        return grouped(self._scoped.functions.values(), lambda one: one.name)

    @functools.cached_property
    def _assigned_at(self) -> dict[Hashable, list[Assignment]]:
        return grouped(self.assignments, lambda one: one.name.start_byte)

    def calls_of(self, function: Node) -> Iterator[CallNode]:
        """Yield the calls that can mean a function or a lambda of this text."""
        known = self._scoped.functions.get(function.id)
        names = {known.name} if known else {self.text(one.name) for one in self.assignments if function in one.value}
        calls = (one for name in sorted(names) for one in self._calls_named.get(name, ()))
        yield from (one for one in calls if function in self.called(one))

    def called(self, call: CallNode) -> list[Node]:
        """Return the functions of this text that a call can mean, or the lambda: more than one only of overloads."""
        if call.of is None and (variable := self.declaration_of(call.name)):
            return [value for one in self._assigned_at.get(variable.start, ()) for value in one.value]
        known = self._functions.get(self.text(call.name), [])
        among = ([one.node for one in known if one.home in homes] for homes in self._homes(call, known))
        fits = [one for one in next(filter(None, among), []) if self._takes(one, call)]
        agreed = [self._agreed(one, call) for one in fits]
        return [one for one, number in zip(fits, agreed, strict=True) if number == max(agreed)]

    def _takes(self, function: Node, call: CallNode) -> bool:
        least, most = arity(function, self.text)
        return least <= len(call.arguments) <= most

    def _agreed(self, function: Node, call: CallNode) -> int:
        """Return the number of arguments that are variables of the type of their parameter."""
        found = 0
        for parameter, argument in zip(parameters(function), call.arguments, strict=False):
            of = parameter.child_by_field_name("type")
            variable = self.variable(argument)
            own = self._type(variable) if variable else None
            found += of is not None and own is not None and self.text(of) == self.text(own)
        return found

    def _homes(self, call: CallNode, known: Sequence[FunctionDefinition]) -> Iterator[Sequence[Scope]]:
        """Yield, the nearest first, the classes and namespaces whose function of ``known`` a call can mean."""
        function = call.node.child_by_field_name("function")
        path = parts_of(function, self.text)[0] if function is not None else ()
        if call.of is not None and call.of.type != "this":
            variable = self.variable(call.of)
            of = self._class_of(variable) if variable else None
            yield of.reached(lambda one: one.bases) if of else [one.home for one in known if one.home.kind == "class"]
        elif path:
            of = self._scoped.scope_at(call.node).find(path) or self._only_class(path[-1])
            unread = [one.home for one in known if one.home.name == path[-1] or one.home.kind == "namespace"]
            yield of.reached(lambda one: (*one.bases, *one.directives)) if of else unread
        else:
            around = self._scoped.scope_at(call.node).outward()
            yield from (one.reached(lambda one: one.bases) for one in around if one.kind == "class")
            yield [one.home for one in known if one.home.kind == "namespace"]


class VariableIndex(Generic[T]):
    """Finds what is listed for a variable, in the list's order."""

    def __init__(self, listed: Iterable[tuple[Variable, T]]) -> None:
        self._listed = list(listed)
        of_key = ((key, at) for at, (one, _) in enumerate(self._listed) for key in {one.key, one.own or one.key})
        self._places = grouped(of_key, lambda one: one[0])

    def of(self, variable: Variable) -> list[T]:
        """Return what is listed for the same variable."""
        similar = {at for key in {variable.key, variable.own or variable.key} for _, at in self._places.get(key, ())}
        return [self._listed[at][1] for at in sorted(similar) if self._listed[at][0].same(variable)]


def grouped(listed: Iterable[T], key: Callable[[T], Hashable]) -> dict[Hashable, list[T]]:
    """Return what has one key, for each key, in the list's order."""
    found = dict[Hashable, list[T]]()
    for one in listed:
        found.setdefault(key(one), []).append(one)
    return found


def _variables(among: Sequence[Declaration]) -> list[Declaration]:
    return [one for one in among if one.kind == "value" and one.at is not None]


def _is_compound(node: Node) -> bool:
    return node.type == "assignment_expression" and node.children[1].type != "="
