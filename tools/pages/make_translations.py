"""Every language's catalogues and what is made from them: `./gnt lint translations [--fix]`.

A language is a folder of ``gn_tutorial/translation/locale``. A file there, ``diagnostics.po``, is a document that the
language has: gettext's format, the English text above its translation. A document is one of ``documents``, and an
empty file begins it. ``--fix`` brings the English of each file up to date, compiles all of them into the one ``.mo``
file that the package reads, and writes notebooks and pages in the language. English that has changed keeps its former
translation, marked ``fuzzy``: nobody reads it until a translator has looked at it. ``docs/translating.md`` has the
steps.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gn_tutorial.course.exercises.checkers import checker_of  # noqa: E402
from gn_tutorial.course.exercises.registry import DIFFICULTIES, KINDS, Exercise, load_course  # noqa: E402
from gn_tutorial.course.lab.in_language import in_language  # noqa: E402
from gn_tutorial.course.quizzes.quiz import names as quiz_names  # noqa: E402
from gn_tutorial.course.quizzes.quiz import quiz  # noqa: E402
from gn_tutorial.cpp.dataflow import LABELS  # noqa: E402
from gn_tutorial.diagnostics import catalogue  # noqa: E402
from gn_tutorial.diagnostics.extents import rules  # noqa: E402
from gn_tutorial.translation.choice import ENGLISH, LOCALE, speaking  # noqa: E402
from gn_tutorial.translation.markdown import prose_of, translated_markdown  # noqa: E402
from gn_tutorial.translation.texts import DOMAIN, _catalogue, key_of  # noqa: E402

COMMAND = "./gnt lint translations --fix"
NOTEBOOKS = ROOT / "notebooks"
#: The pages that can be translated: the name of the document -> the English page.
PAGES = {"README": ROOT / "README.md", "GLOSSARY": ROOT / "docs" / "GLOSSARY.md"}
_WIDTH = 120
# A date that changed with each run would change every file.
_DATE = datetime(2026, 1, 1, tzinfo=UTC)
_PLACEHOLDER = re.compile(r"\{\w*\}")
_CODE = re.compile(r"`[^`]+`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")

#: The place of a text, and the text.
Found = tuple[str, str]


def documents() -> dict[str, Callable[[], Iterator[Found]]]:
    """Name of a document -> its texts. A notebook's has those of its exercises and its quiz, too."""
    made: dict[str, Callable[[], Iterator[Found]]] = {"diagnostics": _of_diagnostics, "messages": _of_messages}
    made |= {name: (lambda path=path: _of_page(path)) for name, path in PAGES.items()}
    lessons = sorted(NOTEBOOKS.glob("*.ipynb"))
    return made | {path.stem: (lambda path=path: _of_lesson(path)) for path in lessons}


def _of_messages() -> Iterator[Found]:
    """Yield the messages of package and checks: texts in ``translated("...")``, and words of tables that are shown."""
    for path in sorted((ROOT / "gn_tutorial").rglob("*.py")) + sorted((ROOT / "solutions").glob("*/*.py")):
        where = path.relative_to(ROOT).as_posix()
        # Not Babel's extractor: before Python 3.12 it does not see into an f-string.
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "translated":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield where, first.value
    yield from (("a kind of exercise", text) for text in KINDS.values())
    yield from (("how hard an exercise is", text) for text in DIFFICULTIES)
    yield from (("gn_tutorial/cpp/dataflow.py", text) for text in LABELS)


def _of_diagnostics() -> Iterator[Found]:
    """Yield the sentences of findings, their labels and words, families and symptoms, and the words of their pages."""
    for entry in catalogue.entries().values():
        yield entry.id, entry.family
        yield from ((f"{entry.id}.{part}", getattr(entry, part)) for part in ("what", "why", "fix"))
    for name, cause in catalogue.causes().items():
        yield from ((f"{name}.{part}", getattr(cause, part)) for part in ("what", "fix"))
    yield from ((f"rule.{form}", text) for form, text in rules().items())
    for symptom in catalogue.symptoms():
        yield from (("symptoms.toml", text) for text in (symptom.title, *prose_of(symptom.look)))
    yield from ((f"label.{name}", text) for name, text in sorted(catalogue.labels()))
    yield from ((f"words.{field}", one) for field, listed in catalogue.words().items() for one in listed)
    yield from (("page", text) for text in catalogue.PAGE_WORDS)


def _of_page(path: Path) -> Iterator[Found]:
    yield from ((path.name, text) for text in prose_of(path.read_text(encoding="utf-8")))


def _of_lesson(path: Path) -> Iterator[Found]:
    """Yield the prose of a notebook, of its exercises, and of its quiz."""
    number = path.name[:2]
    for cell in _read(path)["cells"]:
        if cell["cell_type"] == "markdown":
            yield from ((cell["id"], text) for text in prose_of("".join(cell["source"])))
    for one in load_course():
        if one.notebook == number:
            texts = (one.title, one.section, one.task, *one.hints, *_of_checker(one))
            yield from ((f"exercise {one.id}", text) for text in texts)
    if number in quiz_names():
        for index, question in enumerate(quiz(number).questions, 1):
            options = (text for option in question.options for text in (option.text, option.why))
            yield from ((f"quiz, question {index}", text) for text in (question.text, *options, question.source))


def _of_checker(exercise: Exercise) -> Iterator[str]:
    """Yield a checker's words about findings; its other words are ``translated`` in their own files."""
    faults = getattr(checker_of(exercise), "faults", {})
    yield from (text for text in faults.values() if isinstance(text, str))


def _read(notebook: Path) -> dict[str, Any]:
    return json.loads(notebook.read_text(encoding="utf-8"))


def brought_up_to_date(path: Path) -> Catalog:
    """Return a language's document with today's English. Raises ValueError if there is no document of that name."""
    if path.stem not in documents():
        raise ValueError(f"{path.relative_to(ROOT)}: no document is called {path.stem}")
    template = Catalog()
    with speaking(ENGLISH):
        for where, text in documents()[path.stem]():
            if re.search(r"[^\W\d_]", text):  # an option may be a number
                template.add(key_of(text), locations=[(where.replace(" ", "_"), None)])
    name = path.parent.name
    with path.open("rb") as file:
        made = read_po(file, locale=name)
    made.update(template, no_fuzzy_matching=True, update_creation_date=False)
    _keep_former(made)
    made.project, made.version, made.header_comment = DOMAIN, "", f"# {path.stem} ({name}): docs/translating.md"
    made.creation_date = made.revision_date = _DATE
    made.fuzzy = False
    return made


def _keep_former(made: Catalog) -> None:
    """Give changed English the translation of the former text in its place, marked fuzzy, with a note."""
    former: dict[str, list[str]] = {}
    for one in made.obsolete.values():
        for place, _ in one.locations if one.string else ():
            former.setdefault(place, []).append(one.id)
    for message in (one for one in made if one.id and not one.string):
        here = [text for place, _ in message.locations for text in former.get(place, ())]
        near = here if len(here) == 1 else difflib.get_close_matches(message.id, here, n=1, cutoff=0.4)
        if near:
            message.string = made.obsolete[near[0]].string
            message.flags.add("fuzzy")
            message.user_comments = [f"was: {near[0]}"]


def accepted(path: Path) -> None:
    """Accept every fuzzy translation of a document, because its English was only reworded."""
    made = brought_up_to_date(path)
    for message in made:
        if message.id and message.fuzzy and not set(complaints(_without_mark(message))):
            message.flags.discard("fuzzy")
            message.user_comments = []
    path.write_bytes(as_po(made))


def _without_mark(message: Message) -> Message:
    return Message(message.id, message.string)


def as_po(made: Catalog) -> bytes:
    """Return the document as the bytes of its file."""
    data = io.BytesIO()
    write_po(data, made, width=_WIDTH, ignore_obsolete=True)
    return data.getvalue().rstrip(b"\n") + b"\n"


def as_mo(parts: Sequence[Catalog], name: str) -> bytes:
    """Return a language's documents in gettext's binary form, without texts that are fuzzy, empty or as in English."""
    whole = Catalog(locale=name, project=DOMAIN, version="", creation_date=_DATE, revision_date=_DATE, fuzzy=False)
    for part in parts:
        for message in part:
            if _is_read(message):
                whole.add(message.id, message.string)
    data = io.BytesIO()
    write_mo(data, whole)
    return data.getvalue()


def _is_read(message: Message) -> bool:
    return bool(message.id and message.string and not message.fuzzy and message.string != message.id)


def complaints(message: Message) -> Iterator[str]:
    """Yield what is wrong with a translation: no text, changed English, or names, code and links that it lacks."""
    english, other = message.id, message.string
    if message.fuzzy:
        yield "its English has changed"
    elif not other:
        yield "not translated"
    else:
        for what, sign in (("names in braces", _PLACEHOLDER), ("code", _CODE)):
            if sorted(set(sign.findall(english))) != sorted(set(sign.findall(other))):
                yield f"other {what} than the English"
        if len(_LINK.findall(english)) != len(_LINK.findall(other)):
            yield "not as many links as the English"


def made_pages(name: str, parts: Sequence[str]) -> dict[Path, bytes]:
    """Return the notebooks and pages of a language as they should be now. parts: the documents that it has."""
    made = {}
    mark = f"<!-- Made by {COMMAND} from the English page: docs/translating.md. Do not edit. -->\n"
    with speaking(name):
        for part in parts:
            if part in PAGES:
                text = PAGES[part].read_text(encoding="utf-8")
                target = PAGES[part].with_suffix(f".{name}.md")
                # It keeps the English page's links: a learner's copies have the same names in every language (lab/).
                made[target] = f"{translated_markdown(text).rstrip()}\n\n{mark}".encode()
            elif (english := NOTEBOOKS / f"{part}.ipynb").exists():
                contents = in_language(_read(english))
                for cell in contents["cells"]:
                    if cell["cell_type"] == "markdown":
                        cell["source"] = [_one_folder_down(line, parts) for line in cell["source"]]
                text = json.dumps(contents, indent=1, ensure_ascii=False) + "\n"
                made[NOTEBOOKS / name / english.name] = text.encode()
    return made


def _one_folder_down(line: str, parts: Sequence[str]) -> str:
    """Return the line with links for a notebook of the language, which lies one folder further down."""

    def moved(found: re.Match[str]) -> str:
        target = found[1]
        there = target.removesuffix(".ipynb") in parts
        return f"]({target})" if "://" in target or target.startswith("#") or there else f"](../{target})"

    return _LINK.sub(moved, line)


def waiting(folder: Path, parts: Sequence[Catalog]) -> tuple[list[str], list[str]]:
    """Return what a translator has to do in a language, and mistakes in its translations, each with its place."""
    to_do, wrong = [], []
    known: dict[str, str] = {}
    for message in (one for part in parts for one in part if one.id):
        found = list(complaints(message))
        done = message.string and not message.fuzzy  # also a term that stays English: the other word would win
        if done and known.setdefault(message.id, message.string) != message.string:
            found.append("translated otherwise in another document")
        place = ", ".join(where for where, _ in message.locations[:2])
        lines = [f"{folder.name}: {place}: {one}: {message.id[:60]!r}" for one in found]
        (to_do if message.fuzzy or not message.string else wrong).extend(lines)
    return to_do, wrong


def put(folder: Path, fix: bool) -> tuple[list[Path], list[str], list[str]]:
    """Return a language's files that are out of date, what waits for a translator, and what is wrong.

    With ``fix``, write the files. Raises ValueError for a file that is no document.
    """
    files = sorted(folder.glob("*.po"))
    parts = [brought_up_to_date(path) for path in files]
    wanted = {path: as_po(part) for path, part in zip(files, parts, strict=True)}
    wanted[folder / "LC_MESSAGES" / f"{DOMAIN}.mo"] = as_mo(parts, folder.name)
    stale = _written(wanted, fix)
    if fix or not stale:  # pages are made with the file that the package reads, so it must be up to date
        _catalogue.cache_clear()
        stale += _written(made_pages(folder.name, [path.stem for path in files]), fix)
    return stale, *waiting(folder, parts)


def _written(wanted: dict[Path, bytes], fix: bool) -> list[Path]:
    """Return the files that differ from their wanted bytes; with ``fix``, write them."""
    stale = [path for path, data in wanted.items() if not path.exists() or path.read_bytes() != data]
    for path in stale if fix else ():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wanted[path])
    return stale


def main(arguments: Sequence[str]) -> int:
    """Write every language; with ``--check`` only name files that are out of date. Return 1 for these, or a mistake."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a file is out of date")
    parser.add_argument(
        "--reworded",
        metavar="PO",
        type=Path,
        nargs="+",
        help="files whose fuzzy texts say what they said before",
    )
    options = parser.parse_args(arguments)
    check, bad = options.check, False
    for path in options.reworded or ():
        accepted(path.resolve())
    for folder in sorted(path for path in LOCALE.iterdir() if path.is_dir()):
        try:
            stale, to_do, wrong = put(folder, fix=not check)
        except ValueError as error:
            sys.exit(str(error))
        for path in stale:
            print(f"{path.relative_to(ROOT)}: {f'out of date; repair with: {COMMAND}' if check else 'written'}")
        for text in [*wrong, *to_do]:
            print(text)
        if to_do:
            print(f"{folder.name}: {len(to_do)} texts wait for a translator, and are English until then")
        bad = bad or bool(wrong) or (check and bool(stale))
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
