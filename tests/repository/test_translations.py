"""The lint of translations: nothing stale is read, nothing is lost on the way, code and outputs have one source."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from gettext import GNUTranslations
from pathlib import Path
from typing import Any

import make_translations as made
import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from gn_tutorial.course.quizzes.quiz import quiz
from gn_tutorial.translation.choice import languages, speaking

ROOT = Path(__file__).parents[2]
OTHERS = languages()[1:]
NOTEBOOKS = [(name, path) for name in OTHERS for path in sorted((ROOT / "notebooks" / name).glob("*.ipynb"))]


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.thorough  # ./gnt lint does the same
def test_every_file_of_every_language_is_what_the_lint_makes() -> None:
    command = [sys.executable, "tools/pages/make_translations.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("language", "path"), NOTEBOOKS, ids=lambda one: getattr(one, "stem", one))
def test_code_and_outputs_of_a_notebook_are_those_of_the_english_one(language: str, path: Path) -> None:
    english = read(ROOT / "notebooks" / path.name)
    other = read(path)
    assert [(one["id"], one["cell_type"]) for one in other["cells"]] == [
        (one["id"], one["cell_type"]) for one in english["cells"]
    ]
    assert {key: value for key, value in other.items() if key != "cells"} == {
        key: value for key, value in english.items() if key != "cells"
    }
    for mine, theirs in zip(other["cells"], english["cells"], strict=True):
        if mine["cell_type"] == "code" and mine["id"] != "quiz-ask":
            assert mine == theirs
        if mine["id"] == "quiz-ask":
            assert mine["source"] == theirs["source"]
            with speaking(language):
                assert "".join(mine["outputs"][0]["data"]["text/plain"]) == repr(quiz(path.name[:2]))


def test_a_language_has_notebooks() -> None:
    assert {language for language, _ in NOTEBOOKS} == set(OTHERS)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Path, list[str]]:
    """A language of one document, ``messages``, and its English, which a test may change."""
    english = ["{count} tiles are copied", "the last tile"]
    monkeypatch.setattr(made, "ROOT", tmp_path)
    monkeypatch.setattr(made, "documents", lambda: {"messages": lambda: (("here.py", one) for one in english)})
    folder = tmp_path / "de"
    folder.mkdir()
    (folder / "messages.po").write_bytes(b"")
    made.put(folder, fix=True)
    return folder, english


def translate(folder: Path, texts: dict[str, str]) -> None:
    path = folder / "messages.po"
    catalog = read_po(io.BytesIO(path.read_bytes()))
    for english, other in texts.items():
        catalog.get(english).string = other
    path.write_bytes(made.as_po(catalog))


def reads(folder: Path, english: str) -> str:
    with (folder / "LC_MESSAGES" / "gn_tutorial.mo").open("rb") as file:
        return GNUTranslations(file).gettext(english)


def test_a_new_document_waits_with_all_of_its_english(small: tuple[Path, list[str]]) -> None:
    folder, english = small
    stale, to_do, wrong = made.put(folder, fix=False)
    assert (stale, wrong) == ([], [])
    assert len(to_do) == 2
    assert "de: here.py: not translated: '{count} tiles are copied'" in to_do
    assert [reads(folder, one) for one in english] == english


def test_a_translation_whose_english_changed_is_named_and_read_by_nobody(small: tuple[Path, list[str]]) -> None:
    folder, english = small
    translate(folder, {"{count} tiles are copied": "{count} A", "the last tile": "B"})
    assert made.put(folder, fix=True)[1:] == ([], [])
    assert reads(folder, "{count} tiles are copied") == "{count} A"

    english[0] = "{count} tiles are copied in"
    stale, _, _ = made.put(folder, fix=False)
    assert {path.name for path in stale} == {"messages.po", "gn_tutorial.mo"}

    _, to_do, wrong = made.put(folder, fix=True)
    assert (to_do, wrong) == (["de: here.py: its English has changed: '{count} tiles are copied in'"], [])
    assert reads(folder, english[0]) == english[0]
    assert reads(folder, "the last tile") == "B"
    text = (folder / "messages.po").read_text(encoding="utf-8")
    assert "# was: {count} tiles are copied\n" in text
    assert made.put(folder, fix=False) == ([], to_do, wrong)  # and a second run changes nothing


def test_a_file_that_is_no_document_is_refused(small: tuple[Path, list[str]]) -> None:
    folder, _ = small
    (folder / "massages.po").write_bytes(b"")
    with pytest.raises(ValueError, match=r"no document is called massages"):
        made.put(folder, fix=False)


@pytest.mark.parametrize(
    ("english", "other", "said"),
    [
        ("{count} of {all}", "{all} A {count}", []),
        ("{count} of {all}", "{count} A", ["other names in braces than the English"]),
        ("run `gnt list`", "A `gnt list`", []),
        ("run `gnt list`", "A `gnt lost`", ["other code than the English"]),
        ("see [here](a.md)", "[A](a.zh.md)", []),
        ("see [here](a.md)", "A", ["not as many links as the English"]),
        ("see", "", ["not translated"]),
    ],
)
def test_what_a_translation_must_carry_over(english: str, other: str, said: list[str]) -> None:
    assert list(made.complaints(Message(english, other))) == said


def test_two_documents_must_not_translate_one_text_in_two_ways(small: tuple[Path, list[str]]) -> None:
    folder, _ = small
    translate(folder, {"the last tile": "B"})
    first, second = (made.brought_up_to_date(folder / "messages.po") for _ in range(2))
    second.get("the last tile").string = "C"
    assert "translated otherwise in another document" in made.waiting(folder, [first, second])[1][0]
    second.get("the last tile").string = "the last tile"  # a term that is to stay English there, and would not
    assert "translated otherwise in another document" in made.waiting(folder, [first, second])[1][0]


def test_links_of_a_notebook_lead_somewhere() -> None:
    for _, path in NOTEBOOKS:
        text = "".join("".join(one["source"]) for one in read(path)["cells"] if one["cell_type"] == "markdown")
        targets = [one.partition("#")[0] for one in made._LINK.findall(text) if "://" not in one]
        assert targets
        assert [one for one in targets if not (path.parent / one).exists()] == []


def test_english_that_was_reworded_keeps_its_translation_if_nothing_is_lost(small: tuple[Path, list[str]]) -> None:
    folder, english = small
    translate(folder, {"{count} tiles are copied": "{count} A", "the last tile": "B"})
    made.put(folder, fix=True)
    english[:] = ["{count} tiles were copied in", "the last tile of {all}"]
    made.put(folder, fix=True)
    made.accepted(folder / "messages.po")
    _, to_do, wrong = made.put(folder, fix=True)
    assert (to_do, wrong) == (["de: here.py: its English has changed: 'the last tile of {all}'"], [])
    assert reads(folder, english[0]) == "{count} A"
