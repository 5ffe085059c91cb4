"""Finds the scopes of a text, what each of them declares, and where.

They follow the C++ standard ([basic.scope]): namespaces that are opened again, inline and unnamed ones, aliases,
using-directives and using-declarations, classes with bases, scoped and unscoped enumerations, template parameters,
lambdas, conditions and loops. Members that are defined outside of their class see its members.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gn_tutorial.cpp.declarators import NAMES, PARAMETERS, arity, declared, declared_by, parameters
from gn_tutorial.cpp.names import leaf_of, parts_of, path_of
from gn_tutorial.cpp.scopes import CLASSES, Declaration, FunctionDefinition, NamePlace, Scope, ScopeSpan, TextScopes
from gn_tutorial.cpp.syntax import Node

_BLOCKS = (
    "compound_statement", "for_statement", "if_statement", "while_statement", "switch_statement", "catch_clause",
    "lambda_expression", "requires_expression",
)  # fmt: skip
_DECLARATIONS = ("declaration", "field_declaration", "type_definition", *PARAMETERS)
_UNREAD = ("attribute_declaration", "attribute_specifier", "destructor_name")


class ScopeReader:
    """Visits every node once, outer before inner, in text order, without recursion: nesting has no limit.

    A visit returns the scope of the node's children; None to leave them out.
    """

    def __init__(self, of: TextScopes, functions: bool) -> None:
        self.of, self.text, self.functions = of, of.syntax.text, functions
        self._defined: set[int] = set()  # where the declarators of function definitions start
        self._types: set[str] = set()  # the names of types that the text has declared so far
        self._unread: dict[tuple[str, ...], Scope] = {}  # classes by their paths
        self._stack: list[tuple[Node, Scope]] = [(of.syntax.root, of.root)]
        self._later: list[tuple[Node, Scope]] = []  # the bodies of functions
        self._visits: dict[str, Callable[[Node, Scope], Scope | None]] = {
            **dict.fromkeys(CLASSES, self._class),
            **dict.fromkeys(_BLOCKS, lambda _node, scope: Scope("block", scope)),
            **dict.fromkeys(_DECLARATIONS, self._declaration),
            **dict.fromkeys(_UNREAD, self._leave_out),
            **dict.fromkeys(("alias_declaration", "concept_definition"), self._type),
            **dict.fromkeys(
                ("type_parameter_declaration", "variadic_type_parameter_declaration"), self._type_parameter
            ),
            **dict.fromkeys(("preproc_def", "preproc_function_def"), self._macro),
            "enum_specifier": self._enum,
            "expression_statement": self._statement,
            "for_range_loop": self._range_loop,
            "friend_declaration": self._friend,
            "function_declarator": self._prototype,
            "function_definition": self._function,
            "lambda_capture_initializer": self._capture,
            "namespace_alias_definition": self._alias,
            "namespace_definition": self._namespace,
            "optional_type_parameter_declaration": self._optional_type,
            "preproc_if": self._condition,
            "template_declaration": lambda _node, scope: Scope("template", scope),
            "using_declaration": self._using,
        }

    def read(self) -> None:
        """Visit the nodes."""
        while self._stack:
            node, scope = self._stack.pop()
            if node.is_error or node.is_missing:
                continue
            visit = self._visits.get(node.type)
            inner = visit(node, scope) if visit else scope
            if inner is None:
                continue
            if inner is not scope:
                self.of.inside[node.id] = inner
                self.of.spans.append(ScopeSpan(node.start_byte, node.end_byte, inner))
            children = node.named_children
            if node.type == "function_definition" and not self.functions:
                self._later += [(one, inner) for one in children if one.type == "compound_statement"]
                children = [one for one in children if one.type != "compound_statement"]
            self._stack += [(child, inner) for child in reversed(children)]

    def read_functions(self) -> None:
        """Visit the bodies of functions that were left out."""
        self._stack, self._later, self.functions = self._later[::-1], [], True
        self.read()

    # --- namespaces --------------------------------------------------------------------------------------------------

    def _namespace(self, node: Node, scope: Scope) -> Scope:
        made = scope
        for part in path_of(node.child_by_field_name("name"), self.text):  # none: it is visible around
            made = made.nested.setdefault(part, Scope("namespace", made, name=part))
        if made is not scope and any(child.type == "inline" for child in node.children):
            scope.directives[made] = None
        return made

    def _alias(self, node: Node, scope: Scope) -> None:
        name, *path = path_of(node, self.text)
        found = scope.find(tuple(path))
        if found is not None:
            scope.nested[name] = found

    def _using(self, node: Node, scope: Scope) -> Scope:
        words = {child.type for child in node.children}
        named = next((child for child in node.named_children if child.type != "comment"), None)
        if named is None:
            return scope
        if words & {"namespace", "enum"}:
            found = scope.find(path_of(named, self.text))
            if found is not None and "namespace" in words:
                scope.directives[found] = None
            elif found is not None:
                self._copy(found, list(found.declared), scope)
        elif named.type == "qualified_identifier":
            path, name = parts_of(named, self.text)
            found = scope.find(path) if path else self.of.root
            if found is None:  # a member of a base that the text does not declare
                self._declare(name, "value", scope)
                self.of.names_at.discard(name.start_byte)
            else:
                self._copy(found, [self.text(name)], scope)
        return scope

    @staticmethod
    def _copy(found: Scope, names: list[str], scope: Scope) -> None:
        if found is scope:
            return
        for name in names:
            scope.declared.setdefault(name, []).extend(found.declared.get(name, ()))
            if name in found.nested:
                scope.nested[name] = found.nested[name]

    # --- types -------------------------------------------------------------------------------------------------------

    def _class(self, node: Node, scope: Scope) -> Scope:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            # The members of an unnamed union or structure belong to the scope around, unless it is a variable's type.
            above = self.of.syntax.parent(node)
            named = above is not None and above.child_by_field_name("declarator") is not None
            return Scope("class", scope) if named else scope
        leaf = leaf_of(name)
        if body is None:  # `struct Sum;`, or `struct Sum x`, which declares it too
            self._declare(leaf, "type", scope.home)
            return scope
        made = Scope("class", scope, name=self.text(leaf))
        bases = next((one for one in node.named_children if one.type == "base_class_clause"), None)
        for base in bases.named_children if bases else ():
            found = scope.find(path_of(base, self.text))
            if found is not None:
                made.bases.append(found)
            elif base.type.endswith(("identifier", "type")):
                made.is_open = True
        if name.type != "qualified_identifier":
            self._declare(leaf, "type", scope.home, node)
            scope.home.nested[self.text(leaf)] = made
        self._declare(leaf, "type", made)
        return made

    def _enum(self, node: Node, scope: Scope) -> Scope:
        made, home = Scope("class", scope), scope.home
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None:
            leaf = leaf_of(name)
            made.name = self.text(leaf)
            self._declare(leaf, "type", home, node if body else None)
            if body is not None:
                home.nested[made.name] = made
        scoped = any(child.type in ("class", "struct") for child in node.children)
        for one in body.named_children if body else ():
            named = one.child_by_field_name("name") if one.type == "enumerator" else None
            if named is not None:
                self._declare(named, "value", made, node)
                if not scoped:
                    self._declare(named, "value", home, node)
        return made

    def _type(self, node: Node, scope: Scope) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(name, "type", scope.home, node)
        return scope

    def _optional_type(self, node: Node, scope: Scope) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(name, "type", scope)
        return scope

    def _type_parameter(self, node: Node, scope: Scope) -> Scope:
        for child in node.named_children:
            if child.type == "type_identifier":
                self._declare(child, "type", scope)
        return scope

    def _friend(self, node: Node, scope: Scope) -> Scope:
        for child in node.named_children:
            if child.type == "type_identifier":
                self._declare(child, "type", scope.namespace)
        return scope.namespace

    # --- functions and variables -------------------------------------------------------------------------------------

    def _function(self, node: Node, scope: Scope) -> Scope:
        owner = None
        for name, function in declared(node.child_by_field_name("declarator")):
            if function is not None:
                self._defined.add(function.start_byte)
            path, leaf = parts_of(name, self.text)
            if path:
                self.of.names_at.add(leaf.start_byte)
                owner = scope.find(path) or self._unread_class(path, scope)
            elif leaf.type in NAMES:
                self._declare_one(name, function, node, scope)
            self.of.functions[node.id] = FunctionDefinition(self.text(leaf), node, owner or scope.home)
        return Scope("block", scope, owner)

    def _unread_class(self, path: tuple[str, ...], scope: Scope) -> Scope:
        """Return the scope of a class that the text does not declare, though it defines functions of it."""
        return self._unread.setdefault(path, Scope("class", scope.namespace, name=path[-1], is_open=True))

    def _prototype(self, node: Node, scope: Scope) -> Scope:
        return scope if node.start_byte in self._defined else Scope("block", scope)

    def _declaration(self, node: Node, scope: Scope) -> Scope:
        for declarator in node.children_by_field_name("declarator"):
            for name, function in declared(declarator):
                path, leaf = parts_of(name, self.text)
                if path:  # of a member that its class has declared
                    self.of.names_at.add(leaf.start_byte)
                elif leaf.type in NAMES:
                    self._declare_one(name, function, node, scope, declarator)
        return scope

    def _statement(self, node: Node, scope: Scope) -> Scope:
        for name in declared_by(node, lambda function: self._is_type(function, scope)):
            self._declare(name, "value", scope)
        return scope

    def _is_type(self, node: Node, scope: Scope) -> bool:
        """Whether a node is a number's type, or the name of a type that the text declares."""
        if node.type != "identifier" or self.text(node) not in self._types:
            return node.type == "primitive_type"
        found = (one.declared.get(self.text(node)) for one in scope.outward())
        return next((here[-1].kind == "type" for here in found if here), False)

    def _range_loop(self, node: Node, scope: Scope) -> Scope:
        return self._declaration(node, Scope("block", scope))

    def _capture(self, node: Node, scope: Scope) -> Scope:
        left = node.child_by_field_name("left")
        if left is not None:
            self._declare(left, "value", scope)
        return scope

    def _declare_one(
        self, name: Node, function: Node | None, node: Node, scope: Scope, declarator: Node | None = None
    ) -> None:
        # A template's parameter stays in the scope of the template, and a template of variables does not.
        home = scope if node.type in PARAMETERS else scope.home
        # In a function, ``T name(a, b);`` is a variable, though the parser takes it for a function.
        is_value = function is None or home.kind == "block"
        kind = "type" if node.type == "type_definition" else "value" if is_value else "function"
        template = kind == "function" and (home is not scope or _deduces(function))
        takes = arity(function, self.text) if kind == "function" else (0, math.inf)
        self._declare(leaf_of(name), kind, home, node, declarator, template, *takes)

    def _declare(self, name: Node, kind: str, scope: Scope, *more: Any) -> None:
        self.of.names_at.add(name.start_byte)
        made = Declaration(self.text(name), kind, NamePlace(self.of, scope), name, *more)
        if kind == "type":
            self._types.add(made.name)
        for declared_here in (self.of.declared, scope.declared):
            declared_here.setdefault(made.name, []).append(made)

    def _leave_out(self, node: Node, _scope: Scope) -> None:
        self.of.unread_spans.append((node.start_byte, node.end_byte))

    # --- directives, in a text that was not preprocessed -------------------------------------------------------------

    def _condition(self, node: Node, scope: Scope) -> Scope | None:
        if not self.of.syntax.is_off(node):
            return scope
        other = node.child_by_field_name("alternative")
        self.of.unread_spans += [(one.start_byte, one.end_byte) for one in node.named_children if one != other]
        self._stack += [(other, scope)] if other else []
        return None

    def _macro(self, node: Node, _scope: Scope) -> None:
        name = node.child_by_field_name("name")
        self.of.unread_spans += [(one.start_byte, one.end_byte) for one in node.named_children]
        if name is not None:
            made = Declaration(self.text(name), "macro", NamePlace(self.of, self.of.root), None)
            self.of.root.declared.setdefault(made.name, []).append(made)


def _deduces(function: Node) -> bool:
    """Whether a parameter's type is ``auto``, which makes a template."""
    types = (one.child_by_field_name("type") for one in parameters(function))
    return any(one is not None and one.type == "placeholder_type_specifier" for one in types)
