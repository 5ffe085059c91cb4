"""Makes the pages of docs/diagnostics: ``./gnt lint catalogue [--fix]``.

Each page is put together from the sentences of ``gn_tutorial/diagnostics/diagnostics.toml``, the pair of programs in
``tests/programs`` whose wrong one expects the id, and what the twin prints when that program runs now.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import program_pairs as programs  # noqa: E402

from gn_tutorial.compiler.address_spaces import IDS  # noqa: E402
from gn_tutorial.course.playground.programs import MARK, is_special, without_answer  # noqa: E402
from gn_tutorial.diagnostics.catalogue import (  # noqa: E402
    PAGES,
    CatalogueEntry,
    ShownWith,
    Symptom,
    causes,
    check,
    entries,
    families,
    label_of,
    spoken,
    symptoms,
)
from gn_tutorial.diagnostics.findings import Findings  # noqa: E402
from gn_tutorial.errors import KernelFault, RegistryError  # noqa: E402
from gn_tutorial.translation.choice import ENGLISH, speaking  # noqa: E402

COMMAND = "./gnt lint catalogue --fix"
SPACES = ROOT / "tests" / "compiler" / "spaces"
_BY_CLANG = (
    "A launch shows nothing, because a laptop has one memory. clang finds it in the source, where the machine has "
    "clang++ or the ziglang wheel: `gnt run --strict`, `gnt grade`, `gnt exam submit` and the builds for an NPU ask "
    "it, and a passed exercise."
)
_MADE = f"<!-- Made by {COMMAND}; do not edit. -->"


@dataclass(frozen=True)
class Example:
    """A wrong program and its right twin. printed: the twin's output for the wrong one; line: of the finding."""

    name: str
    wrong: str
    right: str
    line: int
    severity: str
    printed: str


def pages() -> dict[str, str]:
    """Return every file of docs/diagnostics: its name -> its text as it should be now."""
    found = {f"{entry.id}.md": page(entry, examples(entry.id)) for entry in entries().values()}
    return {"README.md": index(), **found}


def examples(name: str) -> list[Example]:
    """The pairs whose wrong program expects this id: first those named like the id, then by name."""
    if name in IDS:
        return [of_spaces(name)]
    wrong = [one for one, path in programs.SOURCES.items() if name in [found for found, _ in programs.expected(path)]]
    return [example(one, name) for one in sorted(wrong, key=lambda one: _place(one, name))]


def of_spaces(name: str) -> Example:
    """Return the pair of an id that clang finds in the source; a launch prints nothing, so ``printed`` is empty."""
    stem = (SPACES / name.rpartition("-")[2]).as_posix()
    wrong, right = (Path(f"{stem}_{kind}.cpp").read_text(encoding="utf-8").rstrip("\n") for kind in ("bad", "ok"))
    line = wrong[: wrong.index(f"// expect: {name}")].count("\n") + 1
    return Example(f"{stem}_bad", without_answer(wrong), without_answer(right), line, "error", "")


def _place(program: str, name: str) -> tuple[bool, bool, str]:
    """Return a sort key for an id's programs: those that show only one of its causes come last."""
    return not _named_like(program, name), program.startswith("cause/"), program


def example(program: str, name: str) -> Example:
    """Run a wrong program. Raises ValueError if the twin does not find ``name`` in it, or
    if a place of the finding has no label."""
    printed, findings = run(program)
    found = next((one for one in findings if one.id == name), None)
    if found is None:
        raise ValueError(f"tests/programs/{program}.cpp does not give {name}")
    cause = causes().get(str(found.fields.get("cause", "")), ShownWith())
    if bare := [place for place in found.places if not label_of(place, cause, entries()[name])]:
        raise ValueError(
            f"{name} has a place '{bare[0]}' in tests/programs/{program}.cpp, and no label for it: labels in"
            " diagnostics.toml or causes.toml"
        )
    paths = programs.SOURCES[program], programs.SOURCES[program.removesuffix("_bad") + "_ok"]
    wrong, right = (without_answer(path.read_text(encoding="utf-8")).rstrip("\n") for path in paths)
    return Example(program, wrong, right, found.line, found.severity, printed)


def run(program: str) -> tuple[str, Findings]:
    """Return the twin's output for a program, without folders and comments of the tests, and its findings."""
    try:
        findings = programs.run(program).diagnostics
        text = findings.render()
    except KernelFault as fault:
        findings, text = Findings(fault.diagnostics), str(fault)
    folder = f"{programs.SOURCES[program].parent}/"
    return MARK.sub("", text.replace(folder, "")), findings


def page(entry: CatalogueEntry, found: Sequence[Example]) -> str:
    """Return one entry as Markdown."""
    parts = [f"# {entry.id}", _kind(entry, found), "## What it means", spoken(entry.what)]
    parts += ["## Why it matters on a device", spoken(entry.why), "## What to do", spoken(entry.fix)]
    if found:
        first = found[0]
        wrong, right = marked(first)
        parts += ["## Wrong", _code("cpp", wrong)]
        if entry.id in IDS:
            parts += [_BY_CLANG, "## Right", _code("cpp", right)]
        else:
            parts += ["The twin prints:", _code("text", first.printed), "## Right", _code("cpp", right)]
            parts += _command(first)
        if len(found) > 1:
            others = ", ".join(_link(f"../../tests/programs/{one.name}.cpp", one.name) for one in found[1:])
            parts.append(f"Other programs with this mistake: {others}.")
    else:
        parts.append("This is found in the call or in host code, not in a kernel: there is no program to show.")
    seen = [_link(f"README.md#{_anchor(one)}", one.title) for one in symptoms() if entry.id in one.ids]
    if seen:
        parts += ["## How it shows on a device", "\n".join(f"- {one}" for one in seen)]
    return "\n\n".join([*parts, f"[All diagnostics](README.md), in a terminal: `gnt explain {entry.id}`", _MADE]) + "\n"


def index() -> str:
    """Return the guide: from symptoms to ids, then every id by family."""
    parts = [
        "# Diagnostics, and how to find a mistake",
        "The twin names a mistake by an id, the line, the buffer and the other place that matters. Every id has a "
        "page: what it means, why it matters on a device, and what to do. For a mistake in a kernel it also shows a "
        "wrong and a right program, and what the twin prints. "
        "`gnt explain ID` shows it in a terminal.",
        "A device says far less: wrong numbers, or nothing at all. If that is what you have, run the kernel on the "
        "twin first. To know what to look for, start from what you see:",
        "\n".join(f"- {_link('#' + _anchor(one), one.title)}" for one in symptoms()),
        "## By symptom",
    ]
    for one in symptoms():
        parts += [f"### {one.title}", one.look]
        if one.ids:
            parts.append("\n".join(f"- {_reference(entries()[name])}" for name in one.ids))
    parts.append("## By family")
    for family, members in families().items():
        parts += [f"### {family}", "\n".join(f"- {_reference(entry)}" for entry in members)]
    return "\n\n".join([*parts, _MADE]) + "\n"


def marked(pair: Example) -> tuple[str, str]:
    """Return both programs with marks at lines that differ, and at the line that the twin names."""
    wrong, right = pair.wrong.splitlines(), pair.right.splitlines()
    bare = [line.replace("_bad(", "_ok(") for line in wrong]
    changes = difflib.SequenceMatcher(a=bare, b=right, autojunk=False).get_opcodes()
    for kind, begin, end, other_begin, other_end in changes:
        if kind != "equal":
            _mark(wrong, range(begin, end), "wrong")
            _mark(right, range(other_begin, other_end), "right")
    if "// <-- " not in wrong[pair.line - 1]:
        _mark(wrong, [pair.line - 1], "found here")
    return "\n".join(wrong), "\n".join(right)


def stale() -> list[str]:
    """Return the names of pages that are missing, out of date, or about a diagnostic that no longer exists."""
    folder, wanted = ROOT / PAGES, pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write() -> list[str]:
    """Write every page and delete pages of diagnostics that no longer exist; return the names of changed pages."""
    folder, wanted, changed = ROOT / PAGES, pages(), stale()
    folder.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def _kind(entry: CatalogueEntry, found: Sequence[Example]) -> str:
    if not found:
        return f"*{entry.family}.*"
    if entry.id in IDS:
        return f"*{entry.family}. An error of strict launches.*"
    ends = "An error: the launch fails." if found[0].severity == "error" else "A warning: the launch goes on."
    return f"*{entry.family}. {ends}*"


def _reference(entry: CatalogueEntry) -> str:
    return f"{_link(f'{entry.id}.md', entry.id)}: {spoken(entry.what)}"


def _command(pair: Example) -> list[str]:
    """Return how to run the wrong program; nothing if it needs options that ``gnt run`` lacks."""
    if is_special(pair.wrong):
        return []
    more = f" --blocks {programs.request(pair.name).blocks}"
    # As in the tests: both arguments hold 1024 floats.
    words = f"gnt run tests/programs/{pair.name}.cpp --arg x=float32[1024] --inout y=float32[1024]{more}"
    return [f"Run it: `{words}`"]


def _mark(lines: list[str], which: Sequence[int], word: str) -> None:
    for at in which:
        if lines[at].strip():
            lines[at] += f"  // <-- {word}"


def _named_like(program: str, name: str) -> bool:
    return program.rpartition("/")[2].removesuffix("_bad").replace("_", "-") in name


def _anchor(symptom: Symptom) -> str:
    return re.sub(r"[^\w -]", "", symptom.title.lower()).replace(" ", "-")


def _link(target: str, text: str) -> str:
    return f"[{text}]({target})"


def _code(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def main(arguments: Sequence[str]) -> int:
    """Write the pages; with ``--check`` only name the stale ones, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a page is out of date")
    check_only = parser.parse_args(arguments).check
    try:
        check()
        with speaking(ENGLISH):
            changed = stale() if check_only else write()
    except (RegistryError, ValueError) as error:
        print(error)
        return 1
    for name in changed:
        print(f"{PAGES}/{name}: {f'out of date; repair with: {COMMAND}' if check_only else 'written'}")
    return 1 if check_only and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
