"""Renders the learner's source as HTML: links to the file and its lines, code in colour, and marks below the code.

The colours are those of JupyterLab's editor, except for comments and directives. JupyterLab's dark theme shows these
too faintly (contrast 4.2 and 3.9 to 1). Outside JupyterLab other colours are used, which are legible on light and dark
pages.
"""

from __future__ import annotations

import os
import re
from html import escape
from pathlib import Path
from urllib.parse import quote

from pygments.lexers import CppLexer, PythonLexer
from pygments.token import Comment, Keyword, Number, String

# (token type of Pygments, colour): the first row whose type contains a token's type gives the token's colour. Pygments
# counts a directive (#include) as a Comment.
_COLOURS = (
    (Comment.Preproc, "var(--jp-mirror-editor-def-color,#9a6700)"),
    (Comment.PreprocFile, "var(--jp-mirror-editor-string-color,#b3541e)"),
    (Comment, "var(--jp-content-font-color2,#7d8590)"),
    (Keyword, "var(--jp-mirror-editor-keyword-color,#8250df)"),
    (String, "var(--jp-mirror-editor-string-color,#b3541e)"),
    (Number, "var(--jp-mirror-editor-number-color,#1a7f6a)"),
)
_MARK = "color:var(--jp-error-color1,#D55E00);font-weight:bold"
_GUTTER = "opacity:.7"
_CODE_LINE = re.compile(r"( *\d+ \| )(.*)")
_MARK_LINE = re.compile(r"( *\|)( *[\^~-]+.*)|()([ |]*~*\^.*)")


def file_link(file: Path, shown: str, line: int = 0) -> str:
    """Return an HTML link with the text ``shown``. Jupyter opens only files below its root, at the given line.

    The link is relative to the current folder, which is the notebook's. line: from 1; 0 for no line.
    """
    try:
        target = Path(os.path.relpath(file))
    except ValueError:  # another drive
        target = file
    # JupyterLab's editor counts lines from 0.
    fragment = f"#line={line - 1}" if line else ""
    return f'<a href="{quote(target.as_posix())}{fragment}" target="_blank">{escape(shown)}</a>'


def linked(text: str, file: Path | None) -> str:
    """Return the text as HTML: escaped, and with each mention of a line of the file, ``row_mean.cpp:46``, as a link."""
    if file is None:
        return escape(text)
    place = re.compile(rf"(?<![\w./-]){re.escape(file.name)}:(\d+)")
    parts, begin = [], 0
    for found in place.finditer(text):
        parts += [escape(text[begin : found.start()]), file_link(file, found[0], int(found[1]))]
        begin = found.end()
    return "".join([*parts, escape(text[begin:])])


def coloured(code: str, name: str) -> str:
    """Return code as HTML spans. name: the file's name; with the suffix .py the code is Python, otherwise C++."""
    lexer = (PythonLexer if name.endswith(".py") else CppLexer)(stripnl=False, ensurenl=False)
    # The lexer recognises a // comment only if a line end follows it.
    tokens = list(lexer.get_tokens(f"{code}\n"))
    tokens[-1] = (tokens[-1][0], tokens[-1][1][:-1])
    parts = []
    for kind, text in tokens:
        colour = next((colour for parent, colour in _COLOURS if kind in parent), "")
        parts.append(f'<span style="color:{colour}">{escape(text)}</span>' if colour else escape(text))
    return "".join(parts)


def excerpt_html(text: str, file: Path | None) -> str:
    """Return an excerpt of a source as HTML, line by line: numbered lines of code, marks below them, and other text."""
    name, lines = file.name if file else "", []
    for line in text.splitlines():
        if code := _CODE_LINE.fullmatch(line):
            lines.append(f'<span style="{_GUTTER}">{code[1]}</span>{coloured(code[2], name)}')
        elif mark := _MARK_LINE.fullmatch(line):
            bar, marks = (part for part in mark.groups() if part is not None)
            gutter = f'<span style="{_GUTTER}">{bar}</span>' if bar else ""
            lines.append(f'{gutter}<span style="{_MARK}">{escape(marks)}</span>')
        else:
            lines.append(linked(line, file))
    return unwrapped("<br>".join(lines))


def unwrapped(html: str) -> str:
    """Return ``html`` in a block that does not wrap lines; the reader scrolls sideways to the end of a long line."""
    return f'<pre style="white-space:pre;overflow-x:auto;line-height:1.3;margin:4px 0">{html}</pre>'
