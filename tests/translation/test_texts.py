"""A text in a language, and Markdown cut into texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gn_tutorial.translation.choice import languages, speaking
from gn_tutorial.translation.markdown import Prose, pieces, prose_of, translated_markdown
from gn_tutorial.translation.texts import key_of, translated

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_a_text_is_found_however_its_lines_are_broken() -> None:
    with speaking("zh"):
        assert translated("no findings") == translated("no\n  findings") == "没有发现问题"
    with speaking("en"):
        assert translated("no findings") == "no findings"


@pytest.mark.parametrize("text", ["", "a text that nobody has\ntranslated", "x", "  "])
def test_a_text_that_a_language_lacks_stays_as_it_is(text: str) -> None:
    with speaking("zh"):
        assert translated(text) == text


def test_a_language_without_a_catalogue_is_english(monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking("tlh"):
        assert translated("no findings") == "no findings"


MARKDOWN = """# Heading *one*

A paragraph with `code`,
broken in two.
- an item
  and its end
2. another

| term | what it is |
|---|---|
| `only code` | a cell with $x$ |
| 17 | [00] |

```sh
echo no prose
```

$$
y = \\text{no prose}
$$

<details><summary>Hint 1</summary>
The hint.
</details>
<!-- no
prose -->
![a picture](docs/images/tour.png)

[00]: ../notebooks/00_start_here.ipynb
"""


def test_what_is_prose_and_what_is_not() -> None:
    assert prose_of(MARKDOWN) == [
        "Heading *one*",
        "A paragraph with `code`, broken in two.",
        "an item and its end",
        "another",
        "term",
        "what it is",
        "a cell with $x$",
        "Hint 1",
        "The hint.",
        "![a picture](docs/images/tour.png)",
    ]


def test_only_prose_changes() -> None:
    said = translated_markdown(MARKDOWN, lambda text: f"«{text}»")
    assert said.startswith(
        "# «Heading *one*»\n\n«A paragraph with `code`, broken in two.»\n- «an item and its end»\n2. "
    )
    assert "<details><summary>«Hint 1»</summary>\n«The hint.»\n</details>\n<!-- no\nprose -->\n" in said
    assert "| `only code` | «a cell with $x$» |\n| 17 | [00] |\n" in said
    assert "\n```sh\necho no prose\n```\n\n$$\ny = \\text{no prose}\n$$\n" in said


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda path: path.name)
def test_pieces_make_the_document_again(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    cells = json.loads(text)["cells"] if path.suffix == ".ipynb" else [{"cell_type": "markdown", "source": [text]}]
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            found = list(pieces(source))
            assert key_of("".join(found)) == key_of(source)
            assert all(piece == key_of(piece) for piece in found if isinstance(piece, Prose))


def test_every_language_has_a_catalogue() -> None:
    for name in languages()[1:]:
        with speaking(name):
            assert translated("no findings") != "no findings"
