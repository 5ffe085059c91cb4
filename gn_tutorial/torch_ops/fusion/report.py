"""The report of a pass over a graph: the fusions, and the places that were left, as data and as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from torch.fx import Node

from gn_tutorial.tables import html_table, text_table


class Found(NamedTuple):
    """One fusion. where: its place, from ``place_of``. replaced: the names of the values that it replaces."""

    fusion: str
    where: str
    replaced: tuple[str, ...]


class Left(NamedTuple):
    """A place that could be fused but was not, and the reason. fusion: its name, or "any" for a call that stays."""

    fusion: str
    where: str
    why: str


@dataclass
class FusionReport:
    """The fusions of one graph, and the places that were not fused."""

    found: list[Found] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the rows of the table: fusion, place, and "fused: values" or "left: reason"."""
        rows = [(one.fusion, one.where, f"fused: {', '.join(one.replaced)}") for one in self.found]
        return rows + [(one.fusion, one.where, f"left: {one.why}") for one in self.left]

    def __repr__(self) -> str:
        return text_table(("fusion", "where", "what"), self.rows()) if self.rows() else "nothing to fuse"

    def _repr_html_(self) -> str:
        return html_table(("fusion", "where", "what"), self.rows(), caption="fusions")


def place_of(node: Node) -> str:
    """Return the place of a value as text: its module's name, if tracing has kept that, and the value's own name."""
    stack = node.meta.get("nn_module_stack")
    path = list(stack.values())[-1][0] if stack else ""
    return f"{path} ({node.name})" if path else node.name
