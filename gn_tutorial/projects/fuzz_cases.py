"""Draws random cases of an operator with hypothesis: dtypes, ranks, lengths, attributes and values.

The first choice of each draw is the simplest, because hypothesis shrinks towards it: the first column, one axis, few
elements, attributes left out, ordinary values, seed 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.fuzz_values import ORDINARY, kinds_of, make_array
from gn_tutorial.projects.parameters import OpAttribute

#: The largest number of axes in a draw is drawn from this list. 8 is the graph engine's limit for most operators.
MOST_AXES = (3, 2, 4, 3, 5, 8)
SIZES = ("small", "tail", "small", "aligned", "tail", "large", "single", "empty", "tail", "large", "small", "no axis")
_BLOCK_BYTES = 32
#: Shapes with at least this many elements count as large, because they fill several tiles and all cores.
_LARGE_ELEMENTS = 1 << 13
#: How the shape of a further input follows from the first input's. With ``broadcast`` and ``free`` the shape is drawn.
RELATIONS = ("same", "last", "channel", "rows", "one", "broadcast", "free")
_FLOATS = (0.0, 1.0, -1.0, 0.5, 2.5, 1e-6, -3.0, 100.0)
#: Values of integer attributes. None is larger than 1000: a reference may use the value as a number of elements, and a
#: large number would fill the memory.
_INTS = (0, 1, -1, 2, 3, -2, 7, 100, 1000)
_STRINGS = ("none", "mean", "sum")


@dataclass(frozen=True)
class ArrayPlan:
    """The plan for one input. more: the shapes of a dynamic input's tensors after the first; None for another input."""

    dtype: str
    shape: tuple[int, ...]
    values: str = ORDINARY
    more: tuple[tuple[int, ...], ...] | None = None

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of all tensors of the input."""
        return (self.shape, *(self.more or ()))

    def __str__(self) -> str:
        tensors = " ".join(f"{self.dtype}{list(shape)}" for shape in self.shapes)
        text = tensors if self.more is None else f"({tensors})"
        return text + ("" if self.values == ORDINARY else f" {self.values}")


@dataclass(frozen=True)
class Case:
    """One drawn call. inputs: in the definition's order, None for an input that is left out.

    attributes: those that have no default or differ from it. left_out: names of outputs that the caller does not want.
    """

    inputs: tuple[ArrayPlan | None, ...]
    attributes: tuple[tuple[str, Any], ...] = ()
    seed: int = 0
    left_out: tuple[str, ...] = ()

    def arrays(self) -> list[Any]:
        """Return the inputs as arrays: a dynamic one as a list of arrays, one that is left out as None.

        All inputs of ordinary values share one random generator, as in ``project run --seed``.
        """
        shared = np.random.default_rng(self.seed)
        made: list[Any] = []
        for index, one in enumerate(self.inputs):
            if one is None:
                made.append(None)
                continue
            rng = shared if one.values == ORDINARY else np.random.default_rng((self.seed, index))
            tensors = [make_array(one.values, shape, one.dtype, rng) for shape in one.shapes]
            made.append(tensors[0] if one.more is None else tensors)
        return made

    @property
    def plain(self) -> bool:
        """Whether all values are ordinary and no attribute is given."""
        return not self.attributes and all(one is None or one.values == ORDINARY for one in self.inputs)

    def weight(self) -> tuple[int, ...]:
        """Return a sort key, which is smaller for a simpler case.

        Fewer elements count most, then fewer axes, then fewer attributes, inputs with odd values and outputs left out
        (together), then fewer tensors, then a smaller seed. An empty tensor counts as two elements, one without axes as
        two axes, so one element and one axis are the simplest.
        """
        given = [one for one in self.inputs if one is not None]
        shapes = [shape for one in given for shape in one.shapes]
        sizes = [math.prod(shape) for shape in shapes]
        odd = sum(one.values != ORDINARY for one in given)
        elements = sum(size or 2 for size in sizes)
        axes = sum(len(shape) or 2 for shape in shapes)
        return (elements, axes, len(self.attributes) + odd + len(self.left_out), len(shapes), self.seed)

    def classes(self) -> dict[str, str]:
        """Return the classes in which the report counts the case: class (dtype, rank, size ...) -> the case's value."""
        given = [one for one in self.inputs if one is not None]
        first = given[0] if given else ArrayPlan("none", ())
        odd = next((one.values for one in given if one.values != ORDINARY), ORDINARY)
        return {
            "dtype": ", ".join(dict.fromkeys(one.dtype for one in given)) or "none",
            "rank": str(len(first.shape)),
            "size": size_class(first),
            "values": odd,
            "attributes": "others" if self.attributes else "defaults",
        }

    def __str__(self) -> str:
        inputs = ["none" if one is None else str(one) for one in self.inputs]
        attributes = [f"{name}={value!r}" for name, value in self.attributes]
        return ", ".join([*inputs, *attributes, *(f"without {name}" for name in self.left_out)])


def simpler(case: Case) -> Iterator[Case]:
    """Yield variants of the case, each with one thing simpler.

    Axes change only if there is one input, because the shapes of several inputs depend on each other.
    """
    if case.seed:
        yield replace(case, seed=0)
    for index in range(len(case.attributes)):
        yield replace(case, attributes=(*case.attributes[:index], *case.attributes[index + 1 :]))
    for name in case.left_out:
        yield replace(case, left_out=tuple(other for other in case.left_out if other != name))
    if any(one is not None and one.more for one in case.inputs):
        # All lists of one operator have the same number of tensors.
        for part in (slice(0, -1), slice(1, None)):
            yield replace(case, inputs=tuple(_cut(one, part) for one in case.inputs))
    for index, one in enumerate(case.inputs):
        if one is None:
            continue
        others = [replace(one, values=ORDINARY)] if one.values != ORDINARY else []
        if len(case.inputs) == 1:
            axes = range(len(one.shape))
            others += [replace(one, shape=(*one.shape[:axis], *one.shape[axis + 1 :])) for axis in axes]
            others += [replace(one, shape=(*one.shape[:axis], 1, *one.shape[axis + 1 :])) for axis in axes]
        for other in others:
            yield replace(case, inputs=(*case.inputs[:index], other, *case.inputs[index + 1 :]))


def _cut(one: ArrayPlan | None, part: slice) -> ArrayPlan | None:
    if one is None or not one.more:
        return one
    return replace(one, shape=one.shapes[part][0], more=one.shapes[part][1:])


def size_class(one: ArrayPlan) -> str:
    """Return ``empty``, ``single``, ``large``, ``aligned`` (whole blocks of 32 bytes) or ``tail``."""
    size = math.prod(one.shape)
    if size < 2:
        return ("empty", "single")[size]
    if size >= _LARGE_ELEMENTS:
        return "large"
    return "tail" if one.dtype == "none" or size * as_dtype(one.dtype).itemsize % _BLOCK_BYTES else "aligned"


@dataclass(frozen=True)
class CaseSpace:
    """The space of all cases that may be drawn. columns: the inputs' dtypes in each column.

    relations: alternatives, each with one of RELATIONS for every input after the first.
    """

    definition: OpDefinition
    columns: tuple[tuple[str, ...], ...]
    relations: tuple[tuple[str, ...], ...]
    max_elements: int
    values: tuple[str, ...]


def learnt_relations(
    definition: OpDefinition,
    dtypes: Sequence[str],
    accepted: Callable[[Case], bool],
    allowed: Sequence[str] = RELATIONS,
) -> tuple[tuple[str, ...], ...]:
    """Return the relations between input shapes that the reference accepts in trial calls on small shapes.

    allowed: the relations to try. Alternatives with the same relation for all further inputs come first. With two
    further inputs, alternatives with different relations follow. If the reference accepts none, all are returned, and
    the reference then refuses the drawn cases.
    """
    others = len(definition.inputs) - 1
    if others < 1:
        return ((),)
    tried = [(one,) * others for one in allowed]
    if others == 2:
        tried += [(one, two) for one in allowed for two in allowed if one != two]
    attributes = tuple((one.name, _first(one)) for one in definition.attributes if _needed(one))
    shapes = ((2, 3), (2, 3, 4), (4,))
    found: list[tuple[str, ...]] = []
    for relations in tried:
        for shape in shapes:
            related = _probe(shape, relations)
            # On some shapes two relations give equal shapes: in (2, 3) the channels are the last axis.
            if any(_probe(shape, other) == related for other in found):
                continue
            lists = [() if one.kind == "dynamic" else None for one in definition.inputs]
            plans = [ArrayPlan(*one) for one in zip(dtypes, related, (ORDINARY,) * len(dtypes), lists, strict=True)]
            if accepted(Case(tuple(plans), attributes)):
                found.append(relations)
                break
    return tuple(found or tried)


def _probe(shape: tuple[int, ...], relations: Sequence[str]) -> list[tuple[int, ...]]:
    made = {
        "same": shape,
        "last": shape[-1:],
        "channel": shape[1:2],
        "rows": shape[:-1],
        "one": (1,),
        "broadcast": (*shape[:-1], 1),
        "free": (5,),
    }
    return [shape, *(made[one] for one in relations)]


@st.composite
def cases(draw: st.DrawFn, space: CaseSpace) -> Case:
    """Draw a case of the space."""
    definition = space.definition
    dtypes = draw(st.sampled_from(space.columns))
    size = min((as_dtype(one).itemsize for one in dtypes), default=4)
    dynamic = any(one.kind == "dynamic" for one in definition.inputs)
    tensors = draw(st.integers(1, 3)) if dynamic else 1
    shapes = [draw(_shapes(space.max_elements, _BLOCK_BYTES // size)) for _ in range(tensors)]
    # About half of all calls have the first relation: inputs of equal shapes, if the reference accepts these.
    relations = draw(st.sampled_from((*space.relations[:1] * len(space.relations), *space.relations[1:])))
    inputs: list[ArrayPlan | None] = []
    for declared, dtype, relation in zip(definition.inputs, dtypes, ("", *relations), strict=False):
        many = shapes if declared.kind == "dynamic" else shapes[:1]
        of_it = [draw(_related(relation, shape, space.max_elements)) if relation else shape for shape in many]
        kinds = [kind for kind in kinds_of(dtype) if kind in space.values] or [ORDINARY]
        absent = declared.optional and draw(st.booleans())
        values = draw(st.sampled_from((*(kinds[:1] * len(kinds)), *kinds[1:])))
        more = tuple(of_it[1:]) if declared.kind == "dynamic" else None
        inputs.append(None if absent else ArrayPlan(dtype, of_it[0], values, more))
    others = draw(st.sampled_from((False, False, True)))
    attributes = []
    for one in definition.attributes:
        if _needed(one) or others:
            value = draw(_attribute(one))
            if _needed(one) or value != one.default:
                attributes.append((one.name, value))
    free = [one.name for one in definition.outputs if one.optional and one.name not in definition.in_place]
    left_out = tuple(name for name in free if draw(st.sampled_from((False, False, True))))
    return Case(tuple(inputs), tuple(attributes), draw(st.integers(0, 99)), left_out)


@st.composite
def _shapes(draw: st.DrawFn, most: int, unit: int) -> tuple[int, ...]:
    """Draw a shape with at most about ``most`` elements. unit: the number of elements in a block of 32 bytes."""
    style = draw(st.sampled_from(SIZES))
    if style == "no axis":
        return ()
    if style == "aligned":
        length = unit * draw(st.integers(1, 64))
    elif style == "tail":
        length = max(1, unit * draw(st.integers(1, 64)) + draw(st.sampled_from((1, -1, 3))))
    elif style == "large":
        length = draw(st.integers(max(1, most // 8), most))
    else:
        length = {"single": 1, "empty": 0}[style] if style != "small" else draw(st.integers(1, 9))
    # Draw a list, because hypothesis then drops the axes that a failure does not need.
    others = draw(st.lists(st.integers(1, 9), max_size=draw(st.sampled_from(MOST_AXES)) - 1))
    room = max(1, most // max(length, 1)) if style != "large" else most // 64
    for place, other in enumerate(others):
        others[place] = 1 if style == "single" else max(1, min(other, room))
        room = max(1, room // others[place])
    if style == "large":
        length = max(1, length // math.prod(others))
    at = draw(st.sampled_from((len(others), len(others), 0)))
    return (*others[:at], min(length, most), *others[at:])


@st.composite
def _related(draw: st.DrawFn, relation: str, shape: tuple[int, ...], most: int) -> tuple[int, ...]:
    if relation == "broadcast":
        dropped = draw(st.integers(0, len(shape)))
        return tuple(draw(st.sampled_from((length, 1))) for length in shape[dropped:])
    if relation == "free":
        return draw(_shapes(min(most, 256), 8))
    return _probe(shape, (relation,))[1]


def _needed(one: OpAttribute) -> bool:
    return one.required and one.default is None


def _first(one: OpAttribute) -> Any:
    """Return the simplest value of a required attribute."""
    return {"bool": False, "int": 1, "float": 1.0, "string": _STRINGS[0]}.get(one.type, ())


def _attribute(one: OpAttribute) -> st.SearchStrategy[Any]:
    plain = st.just(_first(one) if _needed(one) else one.default)
    scalars = {
        "bool": st.booleans(),
        "int": st.sampled_from(_INTS) | st.integers(-4, 16),
        "float": st.sampled_from(_FLOATS) | st.integers(-80, 80).map(lambda eighths: eighths / 8),
        "string": st.sampled_from(_STRINGS),
    }
    if one.type == "list_list_int":
        return plain
    if one.type.startswith("list"):
        of_one = scalars[one.type.removeprefix("list_")]
        short = st.integers(-2, 3) if one.type == "list_int" else of_one
        return plain | st.lists(short, max_size=3).map(tuple)
    return plain | scalars[one.type]
