"""Reads the declarations of functions marked ``__global__``, by the syntax tree of what ``#if`` and macros leave.

So a comment, a string, a macro's definition or an inactive branch has none. Inside a syntax error nothing is claimed.
The headers count for their macros and aliases. The compiler remains the judge of every type.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gn_tutorial.cpp.declarators import chain, inner
from gn_tutorial.cpp.directives import applied, definitions, lines_left_out, macros_after
from gn_tutorial.cpp.integers import Unreadable, path
from gn_tutorial.cpp.names import leaf_of
from gn_tutorial.cpp.syntax import MOST_BYTES, Node, parse
from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import PACKAGE

if TYPE_CHECKING:
    from gn_tutorial.cpp.scoped_text import Scopes
    from gn_tutorial.cpp.scopes import NamePlace

_MARK = "__global__"
_SCOPES = ("namespace_definition", "struct_specifier", "class_specifier", "union_specifier")
_POINTERS = ("pointer_declarator", "array_declarator")
_NAMES = ("identifier", "template_type", "dependent_type")
#: The longest chain of aliases that is followed.
_DEEPEST = 32


class MarkedParam(NamedTuple):
    """One parameter: its type as written, its name (``arg0`` if it has none), and whether it is an address."""

    ctype: str
    name: str
    is_address: bool


class MarkedFunction(NamedTuple):
    """One declaration; ``line`` is that of its name. Of what something hides only the line and ``hidden_by`` are known.

    heads: the names of its template's parameters, none of an explicit specialisation; None if it is no template.
    """

    name: str
    line: int
    params: tuple[MarkedParam, ...] = ()
    heads: tuple[str, ...] | None = ()
    has_body: bool = False
    hidden_by: str = ""


SYNTAX_ERROR, LEFT_OUT = "a syntax error", "#if"


def marked_functions(text: str, headers: tuple[str, ...]) -> list[MarkedFunction]:
    """Return the declarations of a text in its order; if it has none, what ``#if`` leaves out.

    Raises ArgumentError for text that is too long to be read.
    """
    try:
        reader = _Reader(text, headers)
    except Unreadable as error:
        raise ArgumentError(str(error)) from None
    found = list(reader.functions())
    return found or [MarkedFunction("", line, hidden_by=LEFT_OUT) for line in lines_left_out(text, reader.text, _MARK)]


class _Reader:
    def __init__(self, text: str, headers: tuple[str, ...]) -> None:
        self.headers = [one for one in headers if len(one) <= MOST_BYTES]
        asks = any(re.search(r"#[ \t]*(?:el)?if", one) for one in (text, *self.headers))
        self.conditions = _twins_numbers() if asks else {}
        written = dict(self.conditions)
        for one in (text, *self.headers):
            written = definitions(one) | written
        self.macros = macros_after(self.headers, written)
        self.text = applied(text, self.conditions, self.macros, guess=True)
        self.syntax = parse(self.text)

    def functions(self) -> Iterator[MarkedFunction]:
        """Yield the declarations that count."""
        for around in self.syntax.around(_MARK):
            if around[-1].is_error:
                yield MarkedFunction("", self.syntax.line(around[-1]), hidden_by=SYNTAX_ERROR)
            for declarator in around[-1].children_by_field_name("declarator"):
                function = next((one for one in chain(declarator) if one.type == "function_declarator"), None)
                if function is not None:
                    yield self._function(function, around)

    def _function(self, function: Node, around: list[Node]) -> MarkedFunction:
        """Return the function of a declarator in the nodes ``around`` it, the outermost first."""
        lists = [one.child_by_field_name("parameters") for one in around if one.type == "template_declaration"]
        if function.has_error or any(one is None or one.has_error for one in lists):
            return MarkedFunction("", self.syntax.line(function), hidden_by=SYNTAX_ERROR)
        heads = [tuple(self._head(one) for one in listed.named_children) for listed in lists if listed]
        named = (one.child_by_field_name("name") for one in around if one.type in _SCOPES)
        scope = tuple(part for one in named if one for part in self._plain(one).split("::"))
        name = list(chain(function))[-1]
        written, specialised, _ = self._plain(name).partition("<")
        is_template = lists or specialised or around[-1].type == "template_instantiation"
        return MarkedFunction(
            "::".join((*scope, written)),
            self.syntax.line(leaf_of(name)),
            tuple(self._params(function, scope, frozenset(head for one in heads for head in one))),
            (heads or [()])[-1] if is_template else None,
            around[-1].child_by_field_name("body") is not None,
        )

    def _plain(self, node: Node) -> str:
        return "".join(self.syntax.text(node).split())

    def _head(self, node: Node) -> str:
        """Return the name of a template's parameter; of one without a name the first word."""
        name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        if node.type == "template_template_parameter_declaration":
            return self._head(node.named_children[-1])
        if name is None and node.type.removeprefix("variadic_") == "type_parameter_declaration":
            name = next(iter(node.named_children), None)
        return self.syntax.text(list(chain(name))[-1]) if name else self.syntax.text(node).split()[0]

    def _params(self, function: Node, scope: tuple[str, ...], heads: frozenset[str]) -> Iterator[MarkedParam]:
        """Yield the parameters of a function. heads: the parameters of the templates around it."""
        listed = function.child_by_field_name("parameters")
        if listed is None or self._plain(listed) == "(void)":
            return
        text, first, children = self.syntax.text(listed).encode(), listed.start_byte, listed.children
        found = [at for at, node in enumerate(children) if node.type.endswith("parameter_declaration")]
        for index, at in enumerate(found):
            node, declarator = children[at], children[at].child_by_field_name("declarator")
            inside = list(chain(declarator))
            named = bool(inside) and inside[-1].type == "identifier"
            arrays = [one for one in inside if one.type.endswith("array_declarator") and not _is_of_pointer(one)]
            # What is not the type. CANN's words are no nodes, so the text from comma to comma counts.
            cuts = [(one.start_byte, one.end_byte) for one in _attributes(node, inside)]
            cuts += [(inside[-1].start_byte, inside[-1].end_byte)] if named else []
            cuts += [(within.end_byte if (within := inner(one)) else one.start_byte, one.end_byte) for one in arrays]
            begin, end = children[at - 1].end_byte, children[at + 1].start_byte
            end = next((one.start_byte for one in node.children if one.type == "="), end)
            ctype = text[begin - first : end - first]
            for start, stop in sorted((one for one in cuts if one[1] <= end), reverse=True):
                ctype = ctype[: start - begin] + b" " + ctype[stop - begin :]
            yield MarkedParam(
                _spelling(ctype.decode("utf-8", "replace")) + "*" * bool(arrays),
                self.syntax.text(inside[-1]) if named else f"arg{index}",
                self._is_address(node.child_by_field_name("type"), declarator, scope, heads),
            )

    def _is_address(
        self, of: Node | None, declarator: Node | None, scope: tuple[str, ...], heads: frozenset[str]
    ) -> bool:
        """Return whether a type with a declarator is an address, also by aliases of aliases."""
        place: NamePlace | None = None
        for _ in range(_DEEPEST):
            if any(one.type.endswith(_POINTERS) for one in chain(declarator)):
                return True
            if of is None or not of.type.endswith(_NAMES):
                return False
            text = (place.syntax if place else self.syntax).text(of)
            name = path(re.sub(r"\btypename\b|<.*>", "", text, flags=re.DOTALL))
            if name[-1:] == ("GM_ADDR",):
                return True
            if place is None and not heads.isdisjoint(name):
                return False
            try:
                place = place or self._scopes.place_in(scope)
                found = self._scopes.meant(name, place, types=True)
            except (Unreadable, ArgumentError):
                return False
            if found is None or found.node is None or found.node.type not in ("alias_declaration", "type_definition"):
                return False
            of, declarator, place = found.node.child_by_field_name("type"), found.declarator, found.place
            if of is not None and of.type == "type_descriptor":
                of, declarator = of.child_by_field_name("type"), of.child_by_field_name("declarator")
        return False

    @functools.cached_property
    def _scopes(self) -> Scopes:
        from gn_tutorial.cpp.scoped_text import Scopes  # 2 ms that most kernels do without

        texts = [self.text]
        for one in self.headers:
            own = definitions(one)  # among them its guard
            before = {name: macro for name, macro in self.macros.items() if name not in own}
            texts.append(applied(one, self.conditions, before, guess=True))
        return Scopes(tuple(texts))


@functools.cache
def _twins_numbers() -> dict[str, str]:
    """Return the macros that a kernel may compare in conditions, such as the architecture and the data types."""
    base = PACKAGE / "twin" / "include" / "gn_twin" / "base"
    texts = [(base / name).read_text(encoding="utf-8") for name in ("config.h", "data_type_macros.h")]
    return {name: body for text in texts for name, body in definitions(text).items() if body.isdigit()}


def _is_of_pointer(array: Node) -> bool:
    """Whether an array's declarator declares a pointer or a reference to an array: ``float (*p)[3]``."""
    of = inner(array)
    return of is not None and "parenthesized" in of.type


def _attributes(node: Node, inside: list[Node]) -> Iterator[Node]:
    for of in (node, *inside):
        yield from (one for one in of.named_children if one.type in ("attribute_declaration", "attribute_specifier"))


def _spelling(text: str) -> str:
    """The type as one would write it: ``const __gm__ uint8_t*``."""
    out = ""
    for token in re.findall(r"\w+|::|\.\.\.|[^\w\s]", text):
        wide = token[0].isalnum() or token[0] == "_"
        between = wide and bool(out) and (out[-1].isalnum() or out[-1] in "_*&>")
        out += (" " if between else "") + token + (" " if token == "," else "")
    return out.strip()
