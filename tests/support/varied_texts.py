"""Many distinct submissions with known verdicts: named right and wrong solutions, renamed, reordered, commented.

A variation has the same tokens except for the author's own names, the order of members, functions or keys, and
comments. So its verdict must be that of the named solution. No two variations have the same text.
"""

from __future__ import annotations

import ast
import io
import itertools
import random
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gn_tutorial.course.classroom.submissions import EXERCISE, TASK, Text
from gn_tutorial.course.exam.handout import solved
from gn_tutorial.course.exam.solution_files import right_solutions
from gn_tutorial.course.exam.submission_files import handed_in
from gn_tutorial.course.exam.task import load_tasks
from gn_tutorial.course.exercises.check_python import PythonChecker
from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.registry import load_course

_LOCAL = re.compile(r"^ +(?:const |constexpr )?(?:u?int\d+_t|float|bool|auto) (\w+) = ", re.MULTILINE)
_MEMBER = re.compile(r"^  [\w:]+(?:<[\w:, ]+>)? (\w+_)(?: = [\w.]+)?;", re.MULTILINE)
#: Declarations of members on one line; not that of a TPipe, which must come before its queues.
_MEMBERS = re.compile(r"  (?!.*\b(?:TPipe|return|using)\b)[\w:]+(?:<[\w:, ]+>)?\*? [\w, ]+_(?: = [\w.]+)?;(?: *//.*)?")
_ENTRY = re.compile(r"__global__[^()]*\(([^)]*)\)")
_KEY = re.compile(r"^\w+ = [^\[{\n]*$", re.MULTILINE)
_REMARKS = ("first try", "see the notebook", "checked by hand", "to be looked at again", "as in the lesson")


@dataclass(frozen=True)
class Named:
    """A text with its verdict. message: a part of a wrong one's first message; "" for a right one."""

    name: str
    text: Text
    message: str

    @property
    def right(self) -> bool:
        return not self.message


def named_exercises(ids: Sequence[str] = ()) -> list[Named]:
    """Return solution and wrong solutions of these exercises, or of all exercises whose libraries are installed."""
    found = []
    for exercise in load_course():
        checker = checker_of(exercise)
        if (ids and exercise.id not in ids) or (isinstance(checker, PythonChecker) and checker.missing()):
            continue
        solution = exercise.solution.read_text(encoding="utf-8")
        texts = [("solution", solution, ""), *((one.name, one.apply(solution), one.message) for one in exercise.wrong)]
        file = Path(exercise.file).name
        found += [
            Named(f"{exercise.id} {name}", Text(EXERCISE, exercise.id, {file: text}), message)
            for name, text, message in texts
        ]
    return found


def named_tasks(folder: Path) -> list[Named]:
    """Return the exam tasks' right solutions in both layouts and wrong ones in 9.x. folder: where they are written."""
    found = []
    for task in load_tasks():
        right = right_solutions(task)
        pieces = [(f"{name} {layout}", one, layout, "") for name, one in right.items() for layout in ("8.x", "9.x")]
        pieces += [(one.name, next(iter(right.values())).mistaken(one), "9.x", one.message) for one in task.wrong()]
        for number, (name, one, layout, message) in enumerate(pieces):
            place = folder / task.name / str(number)
            for inside, text in solved(task, one, layout).items():
                if inside.startswith(("op_host/", "op_kernel/")):
                    (place / inside).parent.mkdir(parents=True, exist_ok=True)
                    (place / inside).write_text(text, encoding="utf-8")
            files = dict(handed_in(place).files)
            found.append(Named(f"{task.name} {name}", Text(TASK, task.name, files, layout, "ascend910b"), message))
    return found


def varied(named: Sequence[Named], count: int) -> Iterator[Named]:
    """Yield ``count`` variations, one of each named text in turn."""
    seen: set[str] = set()
    for number, one in zip(range(count), itertools.cycle(named), strict=False):
        for attempt in itertools.count():
            made = replace(one, text=variation(one, random.Random(f"{one.name} {number} {attempt}")))
            if made.text.digest not in seen:
                seen.add(made.text.digest)
                yield made
                break


def variation(one: Named, rng: random.Random) -> Text:
    """Return the text with other names, another order, more comments; for a task, of its kernel and tiling function."""
    return replace(one.text, files={name: _file(name, text, one, rng) for name, text in one.text.files.items()})


def _file(name: str, text: str, one: Named, rng: random.Random) -> str:
    if name.endswith(".py"):
        return _python(text, one.message, rng)
    if name.endswith(".toml"):
        return _toml(text, rng)
    return _commented_cpp(_members_shuffled(_renamed_cpp(text, one.message, rng), rng), rng)


def _renamed_cpp(text: str, message: str, rng: random.Random) -> str:
    mine = {*_LOCAL.findall(text), *_MEMBER.findall(text)}
    # Struct fields, kernel parameters and words that the verdict quotes keep their names.
    kept = [*re.findall(r"(?:\.|->)\s*(\w+)", text), *re.findall(r"\w+", message)]
    mine -= {*kept, *(name for entry in _ENTRY.findall(text) for name in re.findall(r"\w+", entry))}
    return _renamed(text, {name: _other(name, rng) for name in sorted(mine) if rng.random() < 0.8})


def _renamed(text: str, names: dict[str, str]) -> str:
    taken = set(re.findall(r"\w+", text))
    names = {old: new for old, new in names.items() if new not in taken}
    return re.sub(r"\b\w+\b", lambda found: names.get(found[0], found[0]), text)


def _other(name: str, rng: random.Random) -> str:
    stem, end = name.rstrip("_"), "_" * name.endswith("_")
    return f"{stem}{rng.choice(('A', 'B', 'Of', 'Now', 'My', 'Part'))}{rng.randrange(90) + 10}{end}"


def _members_shuffled(text: str, rng: random.Random) -> str:
    """Shuffle each run of members that are declared on successive lines."""
    lines = text.split("\n")
    begin = 0
    while begin < len(lines):
        end = begin
        while end < len(lines) and _MEMBERS.fullmatch(lines[end]):
            end += 1
        if end - begin > 1:
            lines[begin:end] = rng.sample(lines[begin:end], end - begin)
        begin = max(end, begin + 1)
    return "\n".join(lines)


def _commented_cpp(text: str, rng: random.Random) -> str:
    made, before, inside = [], "", False
    for line in text.split("\n"):
        if not inside and not before.endswith("\\") and rng.random() < 0.15:
            made.append(f"// {_remark(rng)}")
        inside = line.rfind("/*") > line.rfind("*/") or (inside and "*/" not in line)
        made.append(line)
        before = line
    return "\n".join(made) + f"\n// {_remark(rng)}\n"


def _toml(text: str, rng: random.Random) -> str:
    """Shuffle the keys, each with the comment above it."""
    if not re.search(r"^\[|'''|\"\"\"", text, re.MULTILINE) and len(_KEY.findall(text)) > 1:
        head, *blocks = re.split(r"\n\n", text.strip())
        text = "\n\n".join([head, *rng.sample(blocks, len(blocks))]) + "\n"
    return _KEY.sub(lambda found: f"# {_remark(rng)}\n{found[0]}", text)


def _python(text: str, message: str, rng: random.Random) -> str:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return f"{text}\n# {_remark(rng)}\n"
    text = _renamed_python(text, tree, message, rng)
    starts = set()
    begin = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if begin and token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            starts.add(token.start[0])
            begin = False
        begin = begin or token.type == tokenize.NEWLINE
    made = []
    for number, line in enumerate(text.split("\n"), 1):
        if number in starts and number > 1 and rng.random() < 0.2:
            made.append(f"{line[: len(line) - len(line.lstrip())]}# {_remark(rng)}")
        made.append(line)
    return "\n".join(made) + f"\n# {_remark(rng)}\n"


def _renamed_python(text: str, tree: ast.Module, message: str, rng: random.Random) -> str:
    """Rename what only functions assign to; a name that is also a parameter, attribute or keyword stays."""
    stored, kept = set(), {*re.findall(r"\w+", message)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Store()):
                stored.add(node.id)
            case ast.Attribute():
                kept.add(node.attr)
            case ast.arg() | ast.keyword():
                kept.add(node.arg or "")
            case ast.Constant(value=str(said)):  # a text may be code, or a name for a look-up
                kept.update(re.findall(r"\w+", said))
    outside = {target.id for node in tree.body for target in ast.walk(node) if _assigns_outside(node, target)}
    mine = stored - kept - outside
    return _renamed(text, {name: _other(name, rng) for name in sorted(mine) if rng.random() < 0.8})


def _assigns_outside(node: ast.AST, target: ast.AST) -> bool:
    """Whether ``node``, a statement at the top of the file, assigns to the name ``target``."""
    plain = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
    return plain and isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)


def _remark(rng: random.Random) -> str:
    return f"{rng.choice(_REMARKS)} ({rng.randrange(10**6)})"


def lay_out(texts: Sequence[Named], folder: Path) -> dict[str, Named]:
    """Write a class in which each learner handed in one of the texts; return its path inside the folder -> the text."""
    found = {}
    for number, one in enumerate(texts):
        learner = f"learner{number:04}"
        if one.text.kind == TASK:
            inside = f"{learner}/my_exam/{one.text.item}"
        else:
            (file,) = one.text.files
            inside = f"{learner}/my_exercises/{file}"
        for name, text in one.text.files.items():
            place = folder / inside / name if one.text.kind == TASK else folder / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        found[inside] = one
    return found


def complaints(found: Sequence[object], named: dict[str, Named]) -> list[str]:
    """Return the results whose verdict is not that of the named text, and texts without a result."""
    rows = {row.path: row for row in found}  # type: ignore[attr-defined]
    wrong = [f"{path} ({named[path].name}): no row" for path in named.keys() - rows.keys()]
    for path, one in named.items():
        row = rows.get(path)
        if row is None:
            continue
        wanted = "right" if one.right else "wrong"
        if row.status != wanted:
            wrong.append(f"{path} ({one.name}): {row.status}, not {wanted}: {row.first.what}")
        elif one.message not in row.first.what:
            wrong.append(f"{path} ({one.name}): not told '{one.message}' but '{row.first.what}'")
    return wrong
