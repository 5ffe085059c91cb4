"""The search for suspiciously equal texts of different learners, by their shingles: runs of SHINGLE tokens.

A text is compared by its tokens without comments, layout and directives; all names except those of the language and the
API become the same name. Shingles of the stub, of our solutions and of many texts do not count. So a copy is found even
if names, comments and the order of functions were changed, and a short right answer does not look copied. The result is
a list to look at, never a verdict.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from gn_tutorial.course.classroom.submissions import EXERCISE, Submission, Text
from gn_tutorial.course.exam.handout import handout, solved
from gn_tutorial.course.exam.solution_files import right_solutions
from gn_tutorial.course.exam.task import find_task
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.cpp.queries import fingerprint
from gn_tutorial.toml_file import PACKAGE, read_toml

#: How many tokens a shingle has: about two statements.
SHINGLE = 12
#: A text with fewer shingles that count is not compared, because it is too short to show anything.
FEWEST = 24
#: Two texts are listed if the shingles that both have are at least this share of the shingles that either has.
ALIKE = 0.7
#: A shingle is usual if more than _FEW texts have it and, in addition, more than _MANY texts or more than the share
#: _USUAL of all texts. A usual shingle is no sign of a copy.
_USUAL, _FEW, _MANY = 0.25, 4, 40
_LONGEST = 200_000
_PYTHON = re.compile(
    r"#[^\n]*|(?:[rbfuRBFU]{0,2})(?:\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?)"
    r"|[^\W\d]\w*|\d[\w.]*|\S",
    re.DOTALL,
)
_OF_PYTHON = frozenset(
    "and as assert async await break class continue def del elif else except finally for from global if import in is "
    "lambda nonlocal not or pass raise return try while with yield None True False "
    "range len sum min max abs zip".split()
)


@dataclass(frozen=True)
class Alike:
    """Texts of one item that are alike. how: in words. share: the part of all their shingles that both have, 0 to 1.

    handed_in: learner and path of each. own: how many shingles they have that the stub and our solutions lack;
    for nearly equal texts, without the usual ones.
    """

    item: str
    how: str
    share: float
    own: int
    handed_in: tuple[tuple[str, str], ...]


def alike(submissions: Sequence[Submission], threshold: float = ALIKE) -> list[Alike]:
    """Return every group of equal texts and every pair with at least the share ``threshold``, the most alike first.

    Only groups and pairs of different learners count.
    """
    by_item: dict[tuple[str, str], list[Submission]] = defaultdict(list)
    for one in submissions:
        by_item[one.text.kind, one.text.item].append(one)
    found = [group for mine in by_item.values() for group in _of_item(mine, threshold)]
    return sorted(found, key=lambda one: (-one.share, one.item, one.handed_in))


def _of_item(mine: Sequence[Submission], threshold: float) -> Iterator[Alike]:
    if any(name.endswith(".toml") for name in mine[0].text.files):  # right predictions are always equal
        return
    given = _given(mine[0].text)
    forms: dict[tuple[str, ...], list[Submission]] = defaultdict(list)
    for one in mine:
        forms[normal_form(one.text)].append(one)
    own = {form: shingles(form) - given for form in forms}
    own = {form: some for form, some in own.items() if len(some) >= FEWEST}
    for form, some in own.items():
        if len({one.learner for one in forms[form]}) > 1:
            same = len({one.text.digest for one in forms[form]}) == 1
            how = "the same text" if same else "the same but for names, comments and layout"
            yield Alike(mine[0].text.item, how, 1.0, len(some), _who(forms[form]))
    many = Counter(shingle for some in own.values() for shingle in some)
    usual = {shingle for shingle, times in many.items() if times > max(_FEW, min(_MANY, _USUAL * len(forms)))}
    rare = {form: some - usual for form, some in own.items()}
    for (one, other), both in _shared(rare).items():
        whole = len(rare[one] | rare[other])
        if whole >= FEWEST and both / whole >= threshold and _others(forms[one], forms[other]):
            handed_in = _who([*forms[one], *forms[other]])
            yield Alike(mine[0].text.item, "nearly the same", both / whole, whole, handed_in)


def normal_form(text: Text) -> tuple[str, ...]:
    """Return the tokens of all files of a text, with normalised names."""
    found: list[str] = []
    for name, content in sorted(text.files.items()):
        plain = content[:_LONGEST]
        found += _python(plain) if name.endswith(".py") else fingerprint(plain, _apis())
    return tuple(found)


def shingles(form: Sequence[str]) -> set[int]:
    """Return a hash for each run of SHINGLE tokens."""
    return {hash(tuple(form[at : at + SHINGLE])) for at in range(len(form) - SHINGLE + 1)}


def _python(text: str) -> Iterator[str]:
    before = ""
    for found in _PYTHON.finditer(text):
        token = found[0]
        if token.startswith("#") or token.lstrip("rbfuRBFU").startswith(('"""', "'''")):
            continue
        named = (token[0].isalpha() or token[0] == "_") and before != "." and token not in _OF_PYTHON
        before = token
        yield "name" if named else token


@functools.cache
def _apis() -> frozenset[str]:
    return frozenset(read_toml(PACKAGE / "twin" / "apis.toml", "the list of APIs"))


def _given(text: Text) -> set[int]:
    """Return the shingles of the stub and of our solutions."""
    if text.kind == EXERCISE:
        exercise = load_course().find(text.item)
        (name,) = text.files
        ours: Iterable[dict[str, str]] = (
            {name: path.read_text(encoding="utf-8")} for path in (exercise.stub, exercise.solution)
        )
    else:
        task = find_task(text.item)
        right = [solved(task, pieces, layout) for pieces in right_solutions(task).values() for layout in ("8.x", "9.x")]
        ours = [_sources(one) for one in (*right, handout(task, "8.x"), handout(task, "9.x"))]
    return {one for files in ours for one in shingles(normal_form(Text(text.kind, text.item, files)))}


def _sources(files: dict[str, str]) -> dict[str, str]:
    """Return the files of a task's folder that belong to a submission: the sources in op_host and op_kernel."""
    return {
        name: text
        for name, text in files.items()
        if name.startswith(("op_host/", "op_kernel/")) and name.endswith((".cpp", ".h"))
    }


def _shared(rare: dict[tuple[str, ...], set[int]]) -> Counter[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return how many rare shingles each pair of texts shares, for the pairs that share any."""
    number = {form: place for place, form in enumerate(rare)}
    holders: dict[int, list[int]] = defaultdict(list)
    for form, some in rare.items():
        for shingle in some:
            holders[shingle].append(number[form])
    pairs = Counter(pair for those in holders.values() for pair in combinations(those, 2))
    forms = list(rare)
    return Counter({(forms[one], forms[other]): both for (one, other), both in pairs.items()})


def _others(one: Collection[Submission], other: Collection[Submission]) -> bool:
    """Whether the submissions have different learners; several tries of one learner do not count as copies."""
    return len({each.learner for each in (*one, *other)}) > 1


def _who(handed_in: Iterable[Submission]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((one.learner, one.path) for one in handed_in))
