"""Finds where elements of an output come from. It repeats the launch for a trace, and again to read the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gn_tutorial.abi.trace import Trace, Tracing, Watch
from gn_tutorial.compare.evidence import OutputEvidence
from gn_tutorial.compare.provenance.difference import first_difference, stored_by
from gn_tutorial.compare.provenance.last_writer import Record
from gn_tutorial.compare.provenance.origin import Origin, number
from gn_tutorial.compare.provenance.reduced import divided, left_over
from gn_tutorial.compare.provenance.steps import OriginStep, Source, steps_to, watched
from gn_tutorial.compare.provenance.suspects import added_to, displaced, halves_summed, padded, read_elsewhere
from gn_tutorial.compare.provenance.two_tensors import overwritten
from gn_tutorial.errors import ArgumentError

#: A function that repeats the launch with this tracing.
Again = Callable[[Tracing], Trace]

#: The most wrong elements, and the most right ones, whose steps are compared.
_COMPARED = 6
#: The most elements of one reduction, and of all reductions behind a number, whose values are read.
_EACH, _ALL = 4096, 16384


class Origins:
    """A traced launch; ``of`` returns where an element of its outputs comes from.

    again: repeats the launch. blocks: how many it runs. Raises KernelError if the repeated launch does not finish.
    """

    def __init__(self, again: Again, blocks: int) -> None:
        self._again, self._blocks = again, tuple(range(blocks))
        self._record = Record(again(Tracing(blocks=self._blocks, origins=True)))

    @property
    def complete(self) -> bool:
        """Whether the trace had room for everything that the launch did."""
        return self._record.trace.complete

    def of(self, name: str, array: np.ndarray, index: int) -> Origin:
        """Return where an element of the output comes from. array: the whole output; index: into it as a flat array."""
        return self._with_values(name, array, index, self._steps(name, array, index))

    def of_wrong(self, seen: OutputEvidence) -> Origin:
        """Return the origin of the first wrong element. It marks the steps that only wrong elements go through.

        seen: the output, of which at least one element is wrong, with a reference of its shape.
        """
        name, array = seen.name, seen.output
        failed = [(index, self._steps(name, array, index)) for index in _spread(np.flatnonzero(seen.wrong))]
        index, step = failed[0]
        right_ones = np.flatnonzero(~seen.wrong)
        near = [int(right_ones[np.abs(right_ones - index).argmin()])] if len(right_ones) else []
        passed = [(one, self._steps(name, array, one)) for one in dict.fromkeys(_spread(right_ones) + near)]
        differs = first_difference(failed, passed)
        beside = [source for source in (differs.here, differs.there) if source.step] if differs else []
        origin = self._with_values(name, array, index, step, beside)
        step = origin.step
        should = float(seen.reference.reshape(-1)[index])
        if step is None:
            return replace(origin, right=should)
        marked = set.intersection(*(_places(one) for _, one in failed)).difference(*(_places(one) for _, one in passed))
        said = halves_summed(step, origin.value, should, origin.number)
        said = said or added_to(step, origin.value, should, origin.number)
        said = said or left_over(self._record, step)

        def named(one: int) -> str:
            return _element(name, array, one)

        lost = None if said else overwritten(self._record, step, (one for _, one in passed))
        suspect = None
        if not said:
            suspect = lost if lost and lost.explains else padded(step) or displaced(failed, seen, named)
            suspect = suspect or read_elsewhere(failed, passed, named) or lost
        marks = frozenset(marked if passed else ())
        words = differs.sentence(self._record, named, origin.number, origin.result) if differs else ""
        besides = "" if said or suspect else divided(self._record, origin) or stored_by(failed, passed)
        return replace(origin, right=should, marked=marks, said=said, differs=words, besides=besides, suspect=suspect)

    def _steps(self, name: str, array: np.ndarray, index: int) -> OriginStep | None:
        arguments = {one.name: one.address for one in self._record.trace.arguments}
        if name not in arguments:
            raise ArgumentError(f"the kernel has no argument '{name}'", hint=f"it has {', '.join(arguments)}")
        return steps_to(self._record, arguments[name] + index * array.dtype.itemsize)

    def _with_values(
        self, name: str, array: np.ndarray, index: int, step: OriginStep | None, beside: Sequence[Source] = ()
    ) -> Origin:
        """Return the element's origin with the values of its steps, and of those behind the sources ``beside``."""
        wide = array.dtype.name == "bfloat16"
        reduced = [(of, source, _watches(self._record, source)) for of, source in _reductions(step)] if step else []
        if reduced:
            seen = self._values([one for _, _, every in reduced for one in every])
            for of, source, every in reduced:
                values = [number(seen[one], source.element_bytes, source.floats, wide) for one in every]
                self._record.choices[source.key] = source.elements[_dominant(of.op, values)]
            step = self._steps(name, array, index)
        sources = [source for one in step.all() for source in one.sources] if step else []
        sources += [*beside, *(source for one in beside if one.step for source in one.step.sources)]
        held = self._values([watch for source in sources for watch in (source.watch, source.made) if watch])
        return Origin(_element(name, array, index), float(array.reshape(-1)[index]), step, held, wide)

    def _values(self, asked: Sequence[Watch]) -> dict[Watch, bytes]:
        watches = list(dict.fromkeys(asked))
        if not watches:
            return {}
        traced = self._again(Tracing(blocks=self._blocks, watches=watches))
        return dict(zip(watches, traced.watched, strict=True))


def _element(name: str, array: np.ndarray, index: int) -> str:
    """Return an element's name, like y[0, 3]."""
    place = ", ".join(str(int(one)) for one in np.unravel_index(index, array.shape)) if array.ndim else ""
    return f"{name}[{place}]" if place else name


def _spread(indices: np.ndarray) -> list[int]:
    """Return at most _COMPARED of these: the first, the last, and some between."""
    if not len(indices):
        return []
    chosen = np.linspace(0, len(indices) - 1, min(len(indices), _COMPARED)).astype(int)
    return [int(indices[one]) for one in dict.fromkeys(chosen.tolist())]


def _places(step: OriginStep | None) -> set[tuple[str, int]]:
    return {one.place for one in step.all()} if step else set()


def _reductions(step: OriginStep) -> list[tuple[OriginStep, Source]]:
    """Return (step, source) for sources with several elements: at most _EACH in one source, and _ALL in all of them."""
    found, left = [], _ALL
    for one in step.all():
        for source in one.sources:
            if 1 < source.many <= min(_EACH, left):
                left -= source.many
                found.append((one, source))
    return found


def _watches(record: Record, source: Source) -> list[Watch]:
    """Return a watch for each of the source's elements, in their order."""
    place = source.block, source.event, source.operand
    return [watched(record, *place, element)[1] for element in source.elements]


def _dominant(op: str, values: Sequence[float | None]) -> int:
    """Return the index of the element to follow: one that is not finite, else the one that decides the result."""
    known = np.array([np.nan if one is None else one for one in values], np.float64)
    if not np.isfinite(known).all():
        return int(np.argmin(np.isfinite(known)))
    if "Max" in op:
        return int(known.argmax())
    if "Min" in op:
        return int(known.argmin())
    return int(np.abs(known).argmax()) if "Sum" in op or "Mean" in op else 0
