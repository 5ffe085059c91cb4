"""Finds the names that a task forbids in the kernel, where they mean the library's functions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from gn_tutorial.cpp.includes import includes
from gn_tutorial.cpp.names import argument_count, call_of, qualification
from gn_tutorial.cpp.portability_rules import OwnText
from gn_tutorial.cpp.queries import words
from gn_tutorial.cpp.scoped_text import ScopedText
from gn_tutorial.cpp.scopes import Declaration, Scope
from gn_tutorial.cpp.syntax import Node, parse

LIBRARY = "AscendC"
_HEADER = re.compile(r"(?:lib|adv_api)/.+")


@dataclass(frozen=True)
class Broken:
    """A rule of the task that an attempt breaks, and where."""

    what: str
    where: str


@dataclass(frozen=True)
class KernelText:
    """A kernel's own text. in_order: a declaration comes before its uses, as the preprocessor leaves it."""

    own: OwnText
    in_order: bool = True


def forbidden(names: Collection[str], kernels: Iterable[KernelText]) -> Broken | None:
    """Return the first use of a high-level API in the texts, or the first include of one's header; None without any.

    A name counts if it means the library's function: qualified by ``AscendC`` or an alias of it, or unqualified where
    no declaration of the kernel's own takes it. Raises ArgumentError for a text of more than a megabyte.
    """
    for kernel in kernels:
        if found := _first(names, kernel):
            what, line = found
            file, number = kernel.own.places[min(line, len(kernel.own.places)) - 1]
            return Broken(f"{what} is a high-level API, which this task forbids: it scores nothing", f"{file}:{number}")
    return None


def _first(names: Collection[str], kernel: KernelText) -> tuple[str, int] | None:
    text = kernel.own.text
    if not any(word in text for word in (*names, "lib/", "adv_api/")):
        return None
    library = Scope("namespace")
    root = Scope("namespace", nested={LIBRARY: library})
    library.parent = root
    read = ScopedText(parse(text), root)
    places = [(one.line, one.name) for one in includes(text) if _HEADER.fullmatch(one.name)]
    of_library = (use for use in _uses(read, names) if _Lookup(use, read, library, kernel.in_order).is_library())
    places += [(use.line, use.name) for use in itertools.islice(of_library, 1)]
    line, what = min(places, default=(0, ""))
    return (what, line) if line else None


@dataclass(frozen=True)
class _Use:
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


def _uses(of: ScopedText, names: Collection[str]) -> Iterator[_Use]:
    """Yield where a text uses one of ``names``, in text order. Nothing in an error is read."""
    syntax = of.syntax
    for node in syntax.nodes("identifier", "type_identifier", "preproc_def", "preproc_function_def"):
        if node.type.startswith("preproc"):
            yield from _in_macro(of, node, names)
        elif syntax.text(node) in names and node.start_byte not in of.names_at and of.is_read(node):
            yield _use_at(of, node)


def _use_at(of: ScopedText, node: Node) -> _Use:
    syntax = of.syntax
    around, (whole, path), call = syntax.parent(node), qualification(node, syntax), call_of(node, syntax)
    return _Use(
        syntax.text(node),
        path,
        of.scope_at(whole),
        whole.start_byte,
        syntax.line(whole),
        argument_count(call) if call is not None else None,
        around is not None and around.type in ("template_function", "template_type"),
    )


def _in_macro(of: ScopedText, node: Node, names: Collection[str]) -> Iterator[_Use]:
    """Yield the uses in the body of a macro, in a text that was not preprocessed."""
    value, given = node.child_by_field_name("value"), node.child_by_field_name("parameters")
    if value is None or not of.is_read(node):
        return
    parameters = {of.syntax.text(one) for one in given.named_children} if given else set()
    for word in words(of.syntax.text(value)):
        if word in names and word not in parameters:
            yield _Use(word, None, of.root, node.start_byte, of.syntax.line(node))


@dataclass(frozen=True)
class _Lookup:
    """The lookup of one use."""

    use: _Use
    text: ScopedText
    library: Scope
    in_order: bool

    def is_library(self) -> bool:
        """Whether the use means the library's function."""
        return self._unqualified() if self.use.path is None else self._qualified(self.use.path)

    def _qualified(self, path: tuple[str, ...]) -> bool:
        root = self.library.parent
        found = self.use.scope.find(path) if path else root
        if found is None or found.kind != "namespace":  # of a class, or of what the text does not declare
            return False
        # [namespace.qual]: what the namespace declares hides what its using-directives bring.
        if found is not self.library and self.use.name in found.declared:
            return False
        return self.library in found.reached(lambda one: one.directives)

    def _unqualified(self) -> bool:
        for scope in self.use.scope.outward():
            verdict = self._hides(scope)
            if verdict is not None:
                return not verdict
        # It is the library's: by a using-directive, or by an argument of one of its types ([basic.lookup.argdep]).
        return True

    def _hides(self, scope: Scope) -> bool | None:
        """Whether what a scope declares takes the name; None if it declares nothing of that name."""
        name = self.use.name
        if scope.kind == "class":
            return True if any(name in one.declared for one in scope.reached(lambda one: one.bases)) else None
        own, of_library = scope.declared.get(name, ()), self.library.declared.get(name, ())
        every = self.text.visible(scope, name)
        scope.steps.pay(len(every))
        declared = [one for one in own if self._before(one, scope)]
        if any(one.kind != "function" for one in declared) or (declared and scope.kind == "block"):
            return True
        declared += [one for one in every[len(own) :] if one not in of_library and self._before(one, self.library)]
        if not declared:
            return None
        # The kernel's own functions do not hide the library's overloads, which a using-directive or an argument of one
        # of its types adds. Overload resolution needs the types of arguments, which are not known here. So their number
        # decides: if no own function takes that many, the call can only mean the library's.
        given, instantiated = self.use.arguments, self.use.instantiated
        return any(one.kind != "function" or one.takes(given, instantiated=instantiated) for one in declared)

    def _before(self, declared: Declaration, scope: Scope) -> bool:
        return declared.start < self.use.start or (scope.kind == "namespace" and not self.in_order)
