"""Converts docs/diagnostics to HTML in the playground's style, with links that open programs in the playground."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from gn_tutorial.course.playground.programs import programs
from gn_tutorial.course.source_html import coloured, excerpt_html

_PROGRAM = re.compile(r"^```cpp\n(?:(?!```).*\n)*?extern \"C\".* void (\w+)\((?:(?!```).*\n)*```$", re.MULTILINE)
_LINKED_PROGRAM = re.compile(r"(?:\.\./)*tests/programs/(\w+/\w+)\.cpp")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="../page.css">
<title>{title}</title>
</head>
<body class="finding-page">
<nav><a href="../index.html">Playground</a> <a href="README.html">All findings</a></nav>
<main>
{body}</main>
</body>
</html>
"""


def with_try_it(text: str, root: Path, address: str) -> str:
    """Return the Markdown ``text`` of a page, with a link below each complete program of tests/programs in it.

    root: the repository's folder. address: the address of the playground's index.html, relative to the page.
    """
    names = _by_entry(root)

    def linked(block: re.Match[str]) -> str:
        name = names.get(block[1])
        return f'{block[0]}\n\n<a href="{address}#start={name}">Try it in the browser</a>' if name else block[0]

    return _PROGRAM.sub(linked, text)


@functools.cache  # called for each page
def _by_entry(root: Path) -> dict[str, str]:
    return {name.replace("/", "_"): name for name in programs(root / "tests" / "programs")}


def finding_pages(root: Path) -> dict[str, str]:
    """Return file name -> HTML, for the folder ``diagnostics`` beside index.html. Links to other docs become text."""
    files = {path.name: path for path in sorted((root / "docs" / "diagnostics").glob("*.md"))}
    known = set(_by_entry(root).values())

    def address(link: str) -> str | None:
        target, mark, place = link.partition("#")
        if program := _LINKED_PROGRAM.fullmatch(target):
            if program[1] in known:
                return f"../index.html#start={program[1]}"
        elif not target or target in files:
            return f"{target.removesuffix('.md')}{'.html' if target else ''}{mark}{place}"
        return link if ":" in link else None

    made = {}
    for path in files.values():
        text = with_try_it(path.read_text(encoding="utf-8"), root, "../index.html")
        title = text.partition("\n")[0].lstrip("# ")
        made[f"{path.stem}.html"] = _PAGE.format(title=escape(title), body=_html(text, address))
    return made


def _html(text: str, address: Callable[[str], str | None]) -> str:
    reader = MarkdownIt("commonmark", {"highlight": _code}).enable("table")
    tokens = reader.parse(text)
    for before, one in zip([*tokens[:1], *tokens], tokens, strict=False):
        if before.type == "heading_open":
            before.attrSet("id", _anchor(one.content))
        # Links are not nested, so each end belongs to the link before it.
        ends = iter([link for link in one.children or () if link.type == "link_close"])
        for link in [link for link in one.children or () if link.type == "link_open"]:
            end, target = next(ends), address(str(link.attrGet("href")))
            if target is None:
                link.tag, link.attrs, end.tag = "span", {}, "span"
            else:
                link.attrSet("href", target)
    return reader.renderer.render(tokens, reader.options, {})


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _code(text: str, language: str, _: str) -> str:
    return f"<pre>{coloured(text, 'a.cpp')}</pre>" if language == "cpp" else excerpt_html(text, None)
