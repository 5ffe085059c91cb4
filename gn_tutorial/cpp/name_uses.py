"""Finds where a text uses some names, and the scopes around each use with what they declare of these names.

Scopes follow the C++ standard ([basic.scope], [basic.lookup]): namespaces that are opened again, inline and unnamed
ones, aliases, using-directives and using-declarations, classes with bases, scoped and unscoped enumerations, template
parameters, lambdas, conditions and loops. Members that are defined outside of their class see its members.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from gn_tutorial.cpp.syntax import Node, Syntax
from gn_tutorial.cpp.tokens import tokens

_NAMES = frozenset({"identifier", "type_identifier", "field_identifier"})
_CLASSES = ("class_specifier", "struct_specifier", "union_specifier")
_PARAMETER = "parameter_declaration"
_BLOCKS = (
    "compound_statement", "for_statement", "if_statement", "while_statement", "switch_statement", "catch_clause",
    "lambda_expression", "requires_expression",
)  # fmt: skip
_DECLARATIONS = (
    "declaration", "field_declaration", "type_definition", "parameter_declaration", "optional_parameter_declaration",
    "variadic_parameter_declaration",
)  # fmt: skip
_OF_OTHER_TYPES = ("pointer_declarator", "reference_declarator", "array_declarator")
#: Names in these are no uses of what the scopes declare.
_NO_USES = ("attribute_declaration", "attribute_specifier", "destructor_name")
#: What may stand between a name and the call of what it names.
_AROUND_A_NAME = frozenset({"qualified_identifier", "parenthesized_expression", "pointer_expression"})
_INSTANTIATIONS = ("template_function", "template_type")


@dataclass(frozen=True)
class OwnDeclaration:
    """One declaration of a name. start: its byte, -1 for a macro. least, most: the arguments that a function takes."""

    start: int
    function: bool = False
    template: bool = False
    least: int = 0
    most: float = math.inf

    def takes(self, arguments: int | None, *, instantiated: bool) -> bool:
        """Whether a use may mean this function. arguments: None if it is no call, or if their number is not known."""
        fits = arguments is None or self.least <= arguments <= self.most
        return fits and (self.template or not instantiated)


@dataclass(eq=False)
class Scope:
    """One scope. kind: namespace, class (or enum), template (its parameters) or block.

    nested: its namespaces, classes and enumerations, with aliases. directives: the namespaces of its using-directives.
    owner: the class or namespace of a function that is defined outside of it.
    """

    kind: str
    parent: Scope | None = None
    owner: Scope | None = None
    declared: dict[str, list[OwnDeclaration]] = field(default_factory=dict)
    nested: dict[str, Scope] = field(default_factory=dict)
    directives: list[Scope] = field(default_factory=list)
    bases: list[Scope] = field(default_factory=list)

    def outward(self) -> Iterator[Scope]:
        """Yield this scope and those around it, in the order in which an unqualified name is looked up."""
        waiting: list[Scope] = [self]
        while waiting:
            scope = waiting.pop()
            yield scope
            waiting += [one for one in (scope.parent, scope.owner) if one is not None]

    def reached(self, of: Callable[[Scope], Collection[Scope]]) -> list[Scope]:
        """Return this scope and, nearest first, all that ``of`` leads to: bases, or namespaces of directives."""
        found = {id(self): self}
        waiting = [self]
        for scope in waiting:
            new = [one for one in of(scope) if id(one) not in found]
            found |= {id(one): one for one in new}
            waiting += new
        return list(found.values())

    def find(self, path: tuple[str, ...]) -> Scope | None:
        """Return the namespace, class or enumeration that a path means here; None if the text does not declare it."""
        found: Scope | None = None
        for index, name in enumerate(path):
            scopes = self.outward() if index == 0 else [found] if found else []
            among = (one for scope in scopes for one in scope.reached(lambda one: (*one.directives, *one.bases)))
            found = next((one.nested[name] for one in among if name in one.nested), None)
        return found

    @property
    def home(self) -> Scope:
        """The scope in which a template below this one is declared."""
        scope = self
        while scope.kind == "template" and scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def namespace(self) -> Scope:
        """The innermost namespace around."""
        scope = self
        while scope.kind != "namespace" and scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(frozen=True)
class Use:
    """A use of a name. path: what qualifies it, None if nothing does, () for ``::Name``.

    arguments: the number of arguments of the call, None if there is no call or a pack among them. instantiated: whether
    template arguments follow.
    """

    name: str
    path: tuple[str, ...] | None
    scope: Scope
    start: int
    line: int
    arguments: int | None = None
    instantiated: bool = False


@dataclass
class NameUses:
    """What ``name_uses`` found, in text order. includes: name of the header, line."""

    uses: list[Use] = field(default_factory=list)
    includes: list[tuple[str, int]] = field(default_factory=list)


def name_uses(syntax: Syntax, names: Collection[str], root: Scope) -> NameUses:
    """Return where a text uses one of ``names``, and its includes. Nothing in an error is read.

    root: the global scope, with the namespaces that are known before. It gets what the text declares.
    """
    return _Reader(syntax, names, root).read()


#: A node, its scope, and the same of the node above.
_Item = tuple[Node, Scope, "_Item | None"]


class _Reader:
    """Visits every node once, outer before inner, in text order, without recursion: nesting has no limit.

    A visit returns the scope of the node's children; None to leave them out.
    """

    def __init__(self, syntax: Syntax, names: Collection[str], root: Scope) -> None:
        self.syntax, self.names, self.root, self.found = syntax, names, root, NameUses()
        self.text = syntax.text
        self._no_uses: set[int] = set()  # where names start that are declared here, or that a path ends with
        self._defined: set[int] = set()  # where the declarators of function definitions start
        self._stack: list[_Item] = []
        self._visits: dict[str, Callable[[Node, Scope, _Item], Scope | None]] = {
            **dict.fromkeys(("identifier", "type_identifier"), self._name),
            **dict.fromkeys(_CLASSES, self._class),
            **dict.fromkeys(_BLOCKS, lambda _node, scope, _item: Scope("block", scope)),
            **dict.fromkeys(_DECLARATIONS, self._declaration),
            **dict.fromkeys(_NO_USES, lambda _node, _scope, _item: None),
            **dict.fromkeys(("alias_declaration", "concept_definition"), self._type),
            **dict.fromkeys(
                ("type_parameter_declaration", "variadic_type_parameter_declaration"), self._type_parameter
            ),
            **dict.fromkeys(("preproc_def", "preproc_function_def"), self._macro),
            "enum_specifier": self._enum,
            "for_range_loop": self._range_loop,
            "friend_declaration": self._friend,
            "function_declarator": self._prototype,
            "function_definition": self._function,
            "lambda_capture_initializer": self._capture,
            "namespace_alias_definition": self._alias,
            "namespace_definition": self._namespace,
            "optional_type_parameter_declaration": self._optional_type,
            "preproc_if": self._condition,
            "preproc_include": self._include,
            "qualified_identifier": self._qualified,
            "template_declaration": lambda _node, scope, _item: Scope("template", scope),
            "using_declaration": self._using,
        }

    def read(self) -> NameUses:
        """Visit the nodes and return what was found."""
        self._stack.append((self.syntax.root, self.root, None))
        while self._stack:
            item = self._stack.pop()
            node, scope, _ = item
            if node.is_error or node.is_missing:
                continue
            visit = self._visits.get(node.type)
            inner = visit(node, scope, item) if visit else scope
            if inner is not None:
                self._stack += [(child, inner, item) for child in reversed(node.named_children)]
        return self.found

    # --- namespaces --------------------------------------------------------------------------------------------------

    def _namespace(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        made = scope
        for part in self._path(node.child_by_field_name("name")):  # none: what is in it is visible around it
            made = made.nested.setdefault(part, Scope("namespace", made))
        if made is not scope and any(child.type == "inline" for child in node.children):
            scope.directives.append(made)
        return made

    def _alias(self, node: Node, scope: Scope, _item: _Item) -> None:
        name, *path = self._path(node)
        found = scope.find(tuple(path))
        if found is not None:
            scope.nested[name] = found

    def _using(self, node: Node, scope: Scope, item: _Item) -> None:
        words = {child.type for child in node.children}
        named = next((child for child in node.named_children if child.type != "comment"), None)
        if named is None:
            return
        if words & {"namespace", "enum"}:
            found = scope.find(self._path(named))
            if found is not None and "namespace" in words:
                scope.directives.append(found)
            elif found is not None:
                self._copy(found, list(found.declared), scope)
        elif named.type == "qualified_identifier":
            self._qualified(named, scope, (named, scope, item))
            path, name = self._parts(named)
            found = scope.find(path) if path else self.root
            if found is None:  # a member of a base that the text does not declare
                self._declare(name, scope)
            else:
                self._copy(found, [self.text(name)], scope)

    @staticmethod
    def _copy(found: Scope, names: list[str], scope: Scope) -> None:
        if found is scope:
            return
        for name in names:
            scope.declared.setdefault(name, []).extend(found.declared.get(name, ()))
            if name in found.nested:
                scope.nested[name] = found.nested[name]

    # --- types -------------------------------------------------------------------------------------------------------

    def _class(self, node: Node, scope: Scope, item: _Item) -> Scope:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            # The members of an unnamed union or structure belong to the scope around, unless it is a variable's type.
            above = item[2][0] if item[2] else None
            return Scope("class", scope) if above and above.child_by_field_name("declarator") else scope
        leaf = self._leaf(name)
        if body is None:  # `struct Sum;`, or `struct Sum x`, which declares it too
            self._declare(leaf, scope.home)
            return scope
        made = Scope("class", scope)
        bases = next((one for one in node.named_children if one.type == "base_class_clause"), None)
        for base in bases.named_children if bases else ():
            found = scope.find(self._path(base))
            if found is not None:
                made.bases.append(found)
        if name.type != "qualified_identifier":
            self._declare(leaf, scope.home)
            scope.home.nested[self.text(leaf)] = made
        self._declare(leaf, made)
        return made

    def _enum(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        made, home = Scope("class", scope), scope.home
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None:
            leaf = self._leaf(name)
            self._declare(leaf, home)
            if body is not None:
                home.nested[self.text(leaf)] = made
        scoped = any(child.type in ("class", "struct") for child in node.children)
        for one in body.named_children if body else ():
            named = one.child_by_field_name("name") if one.type == "enumerator" else None
            if named is not None:
                self._declare(named, made)
                if not scoped:
                    self._declare(named, home)
        return made

    def _type(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(name, scope.home)
        return scope

    def _optional_type(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(name, scope)
        return scope

    def _type_parameter(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        for child in node.named_children:
            if child.type == "type_identifier":
                self._declare(child, scope)
        return scope

    def _friend(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        for child in node.named_children:
            if child.type == "type_identifier":
                self._declare(child, scope.namespace)
        return scope.namespace

    # --- functions and variables -------------------------------------------------------------------------------------

    def _function(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        owner = None
        for name, function in self._declared(node.child_by_field_name("declarator")):
            if function is not None:
                self._defined.add(function.start_byte)
            if name.type == "qualified_identifier":
                path, leaf = self._parts(name)
                self._no_uses.add(leaf.start_byte)
                owner = scope.find(path) if path else None
            else:
                self._declare_one(name, function, scope.home, template=scope.home is not scope)
        return Scope("block", scope, owner)

    def _prototype(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        return scope if node.start_byte in self._defined else Scope("block", scope)

    def _declaration(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        # A template's parameter stays in the scope of the template, and a template of variables does not.
        home = scope if node.type.endswith(_PARAMETER) else scope.home
        for declarator in node.children_by_field_name("declarator"):
            for name, function in self._declared(declarator):
                if name.type == "qualified_identifier":  # of a member that its class has declared
                    self._no_uses.add(self._parts(name)[1].start_byte)
                else:
                    self._declare_one(name, function, home, template=home is not scope)
        return scope

    def _range_loop(self, node: Node, scope: Scope, item: _Item) -> Scope:
        return self._declaration(node, Scope("block", scope), item)

    def _capture(self, node: Node, scope: Scope, _item: _Item) -> Scope:
        left = node.child_by_field_name("left")
        if left is not None:
            self._declare(left, scope)
        return scope

    def _declare_one(self, name: Node, function: Node | None, scope: Scope, *, template: bool) -> None:
        leaf = self._leaf(name)
        if function is None:
            self._declare(leaf, scope)
            return
        least, most = self._arity(function)
        made = OwnDeclaration(leaf.start_byte, True, template or self._deduces(function), least, most)
        self._declare(leaf, scope, made)

    def _declare(self, name: Node, scope: Scope, declared: OwnDeclaration | None = None) -> None:
        self._no_uses.add(name.start_byte)
        scope.declared.setdefault(self.text(name), []).append(declared or OwnDeclaration(name.start_byte))

    def _declared(self, declarator: Node | None) -> Iterator[tuple[Node, Node | None]]:
        """Yield the names that a declarator declares, each with its function_declarator if it is a function's."""
        function: Node | None = None
        while declarator is not None:
            kind = declarator.type
            if kind in _NAMES or kind in ("qualified_identifier", "template_function"):
                yield declarator, function
                return
            if kind == "structured_binding_declarator":
                yield from ((one, None) for one in declarator.named_children if one.type == "identifier")
                return
            function = declarator if kind == "function_declarator" else None if kind in _OF_OTHER_TYPES else function
            inner = declarator.child_by_field_name("declarator")
            if inner is None:
                inner = next((one for one in declarator.named_children if _is_declarator(one)), None)
            declarator = inner

    def _arity(self, function: Node) -> tuple[int, float]:
        parameters = function.child_by_field_name("parameters")
        least, most = 0, 0.0
        for one in parameters.children if parameters else ():
            if one.type == _PARAMETER and self.text(one).strip() != "void":
                least, most = least + 1, most + 1
            elif one.type == "optional_parameter_declaration":
                most += 1
            elif one.type in ("variadic_parameter_declaration", "..."):
                most = math.inf
        return least, most

    @staticmethod
    def _deduces(function: Node) -> bool:
        """Whether a parameter's type is ``auto``, which makes a template."""
        parameters = function.child_by_field_name("parameters")
        types = (one.child_by_field_name("type") for one in (parameters.named_children if parameters else ()))
        return any(one is not None and one.type == "placeholder_type_specifier" for one in types)

    # --- uses --------------------------------------------------------------------------------------------------------

    def _name(self, node: Node, _scope: Scope, item: _Item) -> None:
        name = self.text(node)
        if name in self.names and node.start_byte not in self._no_uses:
            self._use(name, None, item)

    def _qualified(self, node: Node, scope: Scope, item: _Item) -> Scope:
        if node.start_byte not in self._no_uses:
            path, leaf = self._parts(node)
            name = self.text(leaf)
            if name in self.names and leaf.start_byte not in self._no_uses:
                self._use(name, path, item)
            # What follows the first scope of the path is no use of its own.
            self._no_uses |= {leaf.start_byte, *(one.start_byte for one in self._steps(node))}
        return scope

    def _use(self, name: str, path: tuple[str, ...] | None, item: _Item) -> None:
        node, scope, above = item
        instantiated = path is not None and self._steps(node)[-1].type in _INSTANTIATIONS
        arguments, below = None, node
        while above is not None:
            around = above[0]
            if around.type in _INSTANTIATIONS and around.child_by_field_name("name") == below:
                instantiated = True
            elif around.type not in _AROUND_A_NAME:
                if around.type == "call_expression" and around.child_by_field_name("function") == below:
                    arguments = self._count(around.child_by_field_name("arguments"))
                break
            below, above = around, above[2]
        line = self.syntax.line(node)
        self.found.uses.append(Use(name, path, scope, node.start_byte, line, arguments, instantiated))

    @staticmethod
    def _count(arguments: Node | None) -> int | None:
        if arguments is None or arguments.has_error:
            return None
        given = [one.type for one in arguments.named_children if one.type != "comment"]
        return None if "parameter_pack_expansion" in given else len(given)

    # --- directives, in a text that was not preprocessed -------------------------------------------------------------

    def _condition(self, node: Node, scope: Scope, item: _Item) -> Scope | None:
        condition = node.child_by_field_name("condition")
        if condition is None or self.text(condition).strip("() \t") not in ("0", "false"):
            return scope
        other = node.child_by_field_name("alternative")
        if other is not None:
            self._stack.append((other, scope, item))
        return None

    def _macro(self, node: Node, _scope: Scope, _item: _Item) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            self.root.declared.setdefault(self.text(name), []).append(OwnDeclaration(-1))
        given = node.child_by_field_name("parameters")
        parameters = {self.text(one) for one in given.named_children} if given else set()
        line = self.syntax.line(node)
        for token in tokens(self.text(value)) if value else ():
            if token.kind == "name" and token.text in self.names and token.text not in parameters:
                self.found.uses.append(Use(token.text, None, self.root, node.start_byte, line))

    def _include(self, node: Node, _scope: Scope, _item: _Item) -> None:
        path = node.child_by_field_name("path")
        if path is not None:
            self.found.includes.append((self.text(path).strip('"<>'), self.syntax.line(node)))

    # --- names -------------------------------------------------------------------------------------------------------

    def _steps(self, node: Node) -> list[Node]:
        """Return what follows the scope in each step of a qualified name; the last one is the name itself."""
        steps = []
        at: Node | None = node
        while at is not None and at.type == "qualified_identifier":
            at = at.child_by_field_name("name")
            steps += [at] if at else []
        return steps or [node]

    def _parts(self, node: Node) -> tuple[tuple[str, ...], Node]:
        """Return the path before the last name of a qualified name, and the node of this last name."""
        scopes = (one.child_by_field_name("scope") for one in (node, *self._steps(node)[:-1]))
        return tuple(self.text(self._leaf(one)) for one in scopes if one is not None), self._leaf(self._steps(node)[-1])

    def _leaf(self, node: Node) -> Node:
        """Return the name itself of a name with template arguments or a path."""
        while (name := node.child_by_field_name("name")) is not None:
            node = name
        return node

    def _path(self, node: Node | None) -> tuple[str, ...]:
        """Return the names of ``a::b::c``, without template arguments."""
        found = []
        waiting = [node] if node else []
        while waiting:
            one = waiting.pop()
            if one.type in _NAMES or one.type == "namespace_identifier":
                found.append(self.text(one))
            elif one.type != "template_argument_list":
                waiting += reversed(one.named_children)
        return tuple(found)


def _is_declarator(node: Node) -> bool:
    return node.type in _NAMES or node.type.endswith("declarator") or node.type == "qualified_identifier"
