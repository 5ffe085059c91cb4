"""Checks a tiling function: a C++ header that fills a struct, called in a process of its own for many shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Limits
from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.errors import ArgumentError, GntError, KernelError, KernelTimeout
from gn_tutorial.operators.spec import TilingSpec
from gn_tutorial.operators.tiling import load_tiling


@dataclass(frozen=True)
class TilingCase:
    """One call. expected: every field of the struct, or None where the function must refuse.

    why: why the function must refuse or, if it must not refuse, what a refusal overlooks.
    """

    label: str
    arguments: Mapping[str, int]
    expected: Mapping[str, int] | None
    why: str = ""


#: Returns a sentence if the returned fields show a certain mistake, else None.
Symptom = Callable[[TilingCase, Mapping[str, int]], str | None]


@dataclass(frozen=True)
class TilingChecker:
    """Checks ``const char* function(arguments..., struct*)`` in a header, as KernelChecker checks kernels.

    demands: called when the expected fields are right, for properties that no single field shows, such as a tile size
    that is fast. seconds: the time limit of each call.
    """

    struct: str
    function: str
    arguments: tuple[str, ...]
    cases: Callable[[np.random.Generator], Sequence[TilingCase]]
    symptoms: tuple[Symptom, ...] = ()
    demands: tuple[Symptom, ...] = ()
    seconds: float = 5.0

    def check(self, path: Path, seed: int) -> Verdict | int:
        """Return the first thing that is wrong, or the number of cases if all is right."""
        cases = self.cases(np.random.default_rng(seed))
        try:
            function = load_tiling(TilingSpec(path.resolve(), self.struct, self.function, self.arguments, ""))
        except KernelError as error:  # a static initialiser failed; it runs with the function's limits
            return self._ended(error, "", path)
        except GntError as error:
            return Verdict(f"the header does not work: {error.what}", where=path.name, detail=error.detail)
        for case in cases:
            try:
                text = self._judge(case, function(case.arguments, Limits(seconds=self.seconds)).fields)
            except ArgumentError as error:
                text = self._refused(case, error.what)
            except KernelError as error:
                return self._ended(error, case.label, path)
            if text:
                return Verdict(text, case.label)
        return len(cases)

    def _ended(self, error: KernelError, label: str, path: Path) -> Verdict:
        """Return the verdict on a call that did not return: the error's text, with the function's own name in it."""
        said = error.what.replace("the tiling function", self.function).replace(f"'{self.function}'", self.function)
        advice = ": look for a loop that never ends" if isinstance(error, KernelTimeout) else ""
        return Verdict(f"{said}{advice}", label, path.name, error.printed)

    def _refused(self, case: TilingCase, said: str) -> str:
        if case.expected is None:
            return ""
        why = f": {case.why}" if case.why else ""
        return f"{self.function} refused ({said}), but this can be divided{why}"

    def _judge(self, case: TilingCase, got: Mapping[str, Any]) -> str:
        if case.expected is None:
            return f"{self.function} must refuse this and return a sentence: {case.why}"
        missing = [name for name in case.expected if name not in got]
        if missing:
            return f"the struct has no field {missing[0]}; leave its fields as they were"
        wrong = [name for name, want in case.expected.items() if got[name] != want]
        if not wrong:
            return next((text for demand in self.demands if (text := demand(case, got))), "")
        if not any(got[name] for name in case.expected):
            return f"{self.function} leaves every field at 0"
        for symptom in self.symptoms:
            text = symptom(case, got)
            if text:
                return text
        return f"{wrong[0]} is {got[wrong[0]]}; {case.expected[wrong[0]]} is right"
