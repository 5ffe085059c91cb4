"""What the variables and the calls of a text mean: each by its declaration, and the expressions that give it a value.

The text is read as it was written: no directive is applied, except that ``#if 0`` is left out. Nothing in an error of
the parser is read.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gn_tutorial.cpp.scopes import CLASSES, NAMES
from gn_tutorial.cpp.syntax import Node, Syntax

PARAMETERS = ("parameter_declaration", "optional_parameter_declaration", "variadic_parameter_declaration")
_FUNCTION = "function_definition"
_BLOCKS = (
    "compound_statement", "for_statement", "for_range_loop", "if_statement", "while_statement", "switch_statement",
    "catch_clause", "lambda_expression",
)  # fmt: skip
_SCOPES = (*CLASSES, *_BLOCKS, _FUNCTION, "template_declaration", "namespace_definition", "translation_unit")
_VARIABLES = ("declaration", "field_declaration", "for_range_loop")
_DECLARATIONS = (*_VARIABLES, *PARAMETERS, "lambda_capture_initializer")


class Variable(NamedTuple):
    """A variable, or a field of one.

    key: where the variable is declared, or its name if the text does not declare it; then the names of the fields.
    declared: the name that declares the variable. own: the same, or the name that declares the field.
    """

    key: tuple[int | str, ...]
    declared: Node | None
    own: Node | None

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
        self.nodes: list[Node] = []
        self._above: dict[int, Node] = {}  # faster than Node.parent, which begins at the root
        self._declared: dict[int, dict[str, list[Node]]] = {}  # of a scope
        waiting = [syntax.root]
        while waiting:
            node = waiting.pop()
            self.nodes.append(node)
            children = self.children(node)
            self._above.update((one.id, node) for one in children)
            waiting += reversed(children)

    def around(self, node: Node, *types: str) -> Iterator[Node]:
        """Yield the nodes of these types around a node, the innermost first."""
        above = self._above.get(node.id)
        while above is not None:
            if above.type in types:
                yield above
            above = self._above.get(above.id)

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

    def declaration_of(self, name: Node) -> Node | None:
        """Return the name that declares the variable which a name means; None for one that the text does not declare.

        The innermost scope comes first. A block has what stands before the name, a class all of its members.
        """
        text = self.text(name)
        for scope in self.around(name, *_SCOPES):
            found = [one for one in self._in(scope).get(text, ()) if one.start_byte <= name.start_byte]
            if not found and (of := self._class_at(scope)):
                found = self.members(of, text)
            if found:
                return found[-1]
        return None

    def variable(self, node: Node) -> Variable | None:
        """Return what an expression names, an element of an array like the array; None for any other expression."""
        argument, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if node.type == "parenthesized_expression":
            argument = next(iter(self.children(node)), None)
        if node.type in NAMES:
            return self._variable(node, self.declaration_of(node))
        if node.type == "field_expression" and argument and name:
            if argument.type == "this":
                classes = (of for scope in self.around(node, *_SCOPES) if (of := self._class_at(scope)))
                declared = (one for of in classes for one in self.members(of, self.text(name)))
                return self._variable(name, next(declared, None))
            of_object = self.variable(argument)
            return self.field(of_object, self.text(name)) if of_object else None
        if node.type in ("subscript_expression", "pointer_expression", "parenthesized_expression") and argument:
            return self.variable(argument)
        return None

    def field(self, variable: Variable, name: str) -> Variable:
        """Return a field of a variable."""
        of = self._class_named(self.type_of(variable), variable.own) if variable.own else None
        declared = self.members(of, name) if of else []
        return Variable((*variable.key, name), variable.declared, declared[-1] if declared else None)

    def _variable(self, name: Node, declared: Node | None) -> Variable:
        if declared is not None:
            return Variable((declared.start_byte,), declared, declared)
        # Without a declaration, functions of one class share the variables of a name.
        owners = (owner for scope in self.around(name, *_SCOPES) if (owner := self._owner(scope)))
        return Variable((f"{next(owners, '')}::{self.text(name)}",), None, None)

    def _in(self, scope: Node) -> dict[str, list[Node]]:
        """Return name -> the names that declare it in this scope, without scopes inside."""
        if scope.id not in self._declared:
            found = self._declared[scope.id] = {}
            waiting = [scope] if scope.type == "for_range_loop" else self.children(scope)[::-1]
            while waiting:
                node = waiting.pop()
                for name, _ in self.declared_in(node):
                    found.setdefault(self.text(name), []).append(name)
                of = node.child_by_field_name("type")
                if of and of.type in CLASSES and not node.child_by_field_name("declarator"):
                    waiting += of.children_by_field_name("body")  # an unnamed union
                elif node.type not in (*_SCOPES, *_DECLARATIONS, "expression_statement"):
                    waiting += self.children(node)[::-1]
        return self._declared[scope.id]

    def declared_in(self, node: Node) -> Iterator[tuple[Node, Sequence[Node]]]:
        """Yield the names of the variables that a node declares, each with its value, if any."""
        if node.type not in _DECLARATIONS:
            return
        if node.type == "lambda_capture_initializer":
            yield from ((one, self.children(node)[1:]) for one in node.children_by_field_name("left"))
        behind = [*node.children_by_field_name("default_value"), *node.children_by_field_name("right")]
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.children_by_field_name("value")
            value = value or [one for one in behind if one == declarator.next_named_sibling]
            for name in self._declared_by(declarator):
                yield name, value or declarator.children_by_field_name("parameters")

    def _declared_by(self, declarator: Node) -> list[Node]:
        """Return the names of the variables that a declarator declares."""
        one: Node | None = declarator
        while one is not None and one.type not in NAMES:
            if one.type == "structured_binding_declarator":
                return self.children(one)
            # In a function, ``T name(a, b);`` is a variable, though the parser takes it for a function.
            if one.type == "function_declarator" and next(self.around(one, *_SCOPES)).type not in _BLOCKS:
                return []
            one = _inner(one)
        return [one] if one else []

    # --- classes -----------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _classes(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for one in self.nodes:
            if one.type in CLASSES and one.child_by_field_name("body"):
                found.setdefault(self._owner(one), []).append(one)
        return found

    def _class_named(self, name: str, near: Node) -> Node | None:
        """Return the class of that name; of several the last one in whose scope ``near`` is."""
        found = self._classes.get(name, []) if name else []
        if len(found) > 1:
            scopes = {one.id for one in self.around(near, *_SCOPES)}
            found = [one for one in found if next(self.around(one, *_SCOPES)).id in scopes]
        return found[-1] if found else None

    def members(self, of: Node, name: str) -> list[Node]:
        """Return the names that declare a data member of a class, or of the first of its bases that has it."""
        return next((found for one in self._with_bases(of) if (found := self._in(one).get(name))), [])

    def _with_bases(self, of: Node) -> list[Node]:
        found = [of]
        for one in found:
            clauses = [part for part in one.named_children if part.type == "base_class_clause"]
            bases = [self._class_named(self.last_name(base), one) for part in clauses for base in part.named_children]
            found += [base for base in bases if base and base not in found]
        return found

    def _owner(self, scope: Node) -> str:
        """Return the name of a class, or the one before the name of a function: ``K`` of ``void K::Step()``."""
        if scope.type in CLASSES:
            name = scope.child_by_field_name("name")
            return self.last_name(name) if name else ""
        declared, owner = _function_name(scope), None
        while declared is not None and declared.type == "qualified_identifier":
            owner, declared = declared.child_by_field_name("scope"), declared.child_by_field_name("name")
        return self.last_name(owner) if owner else ""

    def _class_at(self, scope: Node) -> Node | None:
        """Return the class whose members a scope sees."""
        return scope if scope.type in CLASSES else self._class_named(self._owner(scope), scope)

    def type_of(self, variable: Variable) -> str:
        """Return the last name of the type, empty if it is not known. ``auto`` has the type of a value ``T(...)``."""
        of = self._type(variable)
        return self.last_name(of) if of else ""

    def _type(self, variable: Variable) -> Node | None:
        declaration = next(self.around(variable.own, *_DECLARATIONS), None) if variable.own else None
        of = declaration.child_by_field_name("type") if declaration else None
        if declaration and of and of.type == "placeholder_type_specifier":
            value = next(iter(dict(self.declared_in(declaration)).get(variable.own, ())), of)
            return value.child_by_field_name("type") or value.child_by_field_name("function")
        return of

    def last_name(self, node: Node) -> str:
        """Return the last name of a type or a function, without its scope and its template arguments."""
        return self.text(_last(node))

    # --- values and calls --------------------------------------------------------------------------------------------

    @functools.cached_property
    def assignments(self) -> list[Assignment]:
        """All assignments, in text order; an element of an array is no variable."""
        found = []
        for node in self.nodes:
            given = list(self.declared_in(node)) if node.type not in PARAMETERS else []
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
        for node in self.nodes:
            function = node.child_by_field_name("function") if node.type == "call_expression" else None
            arguments = node.child_by_field_name("arguments")
            if function is not None and arguments is not None:
                name, of = function.child_by_field_name("field"), function.child_by_field_name("argument")
                found.append(CallNode(node, _last(name or function), of, self.children(arguments)))
        return found

    def calls_of(self, function: Node) -> Iterator[CallNode]:
        """Yield the calls that can mean a function or a lambda of this text."""
        names = [self.last_name(name) for name in (_function_name(function),) if name]
        names += [self.text(one.name) for one in self.assignments if function in one.value]
        yield from (one for one in self.calls if self.text(one.name) in names and function in self.called(one))

    @functools.cached_property
    def _functions(self) -> dict[str, list[tuple[Node, int | str]]]:
        """Name -> the functions of that name, each with its class: an id, a name without a class here, or ""."""
        found: dict[str, list[tuple[Node, int | str]]] = {}
        for node in self.nodes:
            name = _function_name(node) if node.type == _FUNCTION else None
            if name is not None:
                around_it = next(self.around(node, _FUNCTION, *CLASSES), node)
                of = self._class_at(node) or (around_it if around_it.type in CLASSES else None)
                found.setdefault(self.last_name(name), []).append((node, of.id if of else self._owner(node)))
        return found

    def called(self, call: CallNode) -> list[Node]:
        """Return the functions of this text that a call can mean, or the lambda: more than one only of overloads."""
        if call.of is None and (variable := self.declaration_of(call.name)):
            return [value for one in self.assignments if one.name == variable for value in one.value]
        known = self._functions.get(self.text(call.name), [])
        among = next((fit for of in self._sought(call) if (fit := [one for one, owner in known if owner in of])), [])
        fits = [one for one in among if _takes(one, len(call.arguments))]
        agreed = [self._agreed(one, call) for one in fits]
        return [one for one, number in zip(fits, agreed, strict=True) if number == max(agreed)]

    def _agreed(self, function: Node, call: CallNode) -> int:
        """Return the number of arguments that are variables of the type of their parameter."""
        found = 0
        for parameter, argument in zip(parameters(function), call.arguments, strict=False):
            of = parameter.child_by_field_name("type")
            variable = self.variable(argument)
            own = self._type(variable) if variable else None
            found += of is not None and own is not None and self.text(of) == self.text(own)
        return found

    def _sought(self, call: CallNode) -> Iterator[Collection[int | str]]:
        """Yield, the nearest first, the classes whose function a call can mean, as ``_functions`` says them."""
        function = call.node.child_by_field_name("function")
        scope = function.child_by_field_name("scope") if function else None
        if call.of is not None and call.of.type != "this":
            variable = self.variable(call.of)
            of = self._class_named(self.type_of(variable), call.node) if variable else None
            yield self._ids(of) or {owner for known in self._functions.values() for _, owner in known if owner}
        elif scope is not None:
            name = self.last_name(scope)
            yield self._ids(self._class_named(name, call.node)) or [name, ""]
        else:
            for one in self.around(call.node, _FUNCTION, *CLASSES):
                yield self._ids(self._class_at(one)) or [owner for owner in (self._owner(one),) if owner]
            yield [""]

    def _ids(self, of: Node | None) -> list[int | str]:
        return [one.id for one in self._with_bases(of)] if of else []


def parameters(function: Node) -> list[Node]:
    """Return the parameters of a function or a lambda."""
    declarator: Node | None = function
    while declarator is not None:
        if listed := declarator.child_by_field_name("parameters"):
            return [one for one in listed.named_children if one.type in PARAMETERS]
        declarator = _inner(declarator)
    return []


def _takes(function: Node, arguments: int) -> bool:
    kinds = [one.type for one in parameters(function)]
    most = len(kinds) if "variadic_parameter_declaration" not in kinds else arguments
    return kinds.count("parameter_declaration") <= arguments <= most


def _function_name(function: Node) -> Node | None:
    name = _inner(function) if function.type == _FUNCTION else None
    while name is not None and name.type.endswith("declarator"):
        name = _inner(name)
    return name


def _inner(declarator: Node) -> Node | None:
    """Return what a declarator, or a function, has as its declarator."""
    listed = (one for one in declarator.named_children if one.type in NAMES or one.type.endswith("declarator"))
    return declarator.child_by_field_name("declarator") or next(listed, None)


def _is_compound(node: Node) -> bool:
    return node.type == "assignment_expression" and node.children[1].type != "="


def _last(node: Node) -> Node:
    while (
        name := node.named_child(0) if node.type == "dependent_name" else node.child_by_field_name("name")
    ) is not None:
        node = name
    return node
