"""Writes the interactive timeline as one HTML file with data, program and style; the page contacts no other host."""

from __future__ import annotations

from html import escape
from pathlib import Path

from gn_tutorial.errors import ArgumentError, printable
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.timeline_data import timeline_json

_FOLDER = Path(__file__).parent
#: The page may use only its own script and style, so HTML in a line of a kernel's source can load nothing.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
body {{ margin: 16px; }}
{style}</style>
</head>
<body>
<div id="timeline"></div>
<noscript>The timeline is drawn by a script in this file, and this browser runs none.</noscript>
<script type="application/json" id="data">{data}</script>
<script type="module">
{program}
mountTimeline(document.getElementById("timeline"), JSON.parse(document.getElementById("data").textContent));
</script>
</body>
</html>
"""


def front() -> tuple[str, str]:
    """Return the program (an ES module) and the style sheet that draw the format of ``timeline_data``."""
    return tuple((_FOLDER / name).read_text(encoding="utf-8") for name in ("timeline.js", "timeline.css"))


def timeline_page(*profiles: Profile) -> str:
    """Return the HTML file's text, the same for the same launches. Raises ArgumentError if there is no launch."""
    program, style = front()
    # Only "<" can end a script element or begin a comment in it. JSON has it only in strings, which may escape it.
    data = timeline_json(*profiles).replace("<", "\\u003c")
    title = " and ".join(dict.fromkeys(profile.kernel for profile in profiles))
    return _PAGE.format(
        policy=_POLICY, title=escape(printable(f"{title}, modelled timeline")), style=style, data=data, program=program
    )


def save_timeline(path: Path, *profiles: Profile) -> None:
    """Write the file. Raises ArgumentError if it cannot be written, or if there is no launch."""
    text = timeline_page(*profiles)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror or error}", where=str(path)) from error
