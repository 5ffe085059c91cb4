"""The line that a finding's fix changes, where only the text tells it: a queue's declaration, a variable of 16 bits.

The twin sees calls, not declarations. What it knows of the cause says what to look for in the learner's file; a line is
named only if it is the only one of its kind.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping
from typing import Any

from gn_tutorial.translation.texts import translated

#: Causes and ids that are about what kind of queue it is, or how deep.
_OF_A_QUEUE = {"queue-of-inputs", "queue-of-outputs", "queue-of-one-side", "queue-depth"}


def declared(finding: str, file: str, fields: Mapping[str, Any], buffer: str) -> tuple[int, str, str]:
    """The number of that line, what is marked in it, and the mark's label; 0 if there is none, or several.

    finding: its id. fields: its facts. buffer: the name of the buffer that it is about.
    """
    cause = str(fields.get("cause", ""))
    if buffer and ({cause, finding} & _OF_A_QUEUE):
        name = re.escape(buffer)
        return _only(file, rf"\bT(?:Que|QueBind)\s*<[^;]*>[^;<>()]*\b{name}\b", buffer, translated("declared here"))
    if cause == "offset-wraps":
        word = f"uint{fields.get('bits')}_t"
        return _only(file, rf"\b{word}\s+\w+\s*[={{]", word, translated("declared here"))
    if cause == "offset-in-bytes":
        return _only(file, r"[\w\]]\s*\[[^\[\]]*\bsizeof\b[^\[\]]*\]", "sizeof", translated("counts elements"))
    return 0, "", ""


def _only(file: str, pattern: str, marked: str, label: str) -> tuple[int, str, str]:
    linecache.checkcache(file)
    shape = re.compile(pattern)
    found = [number for number, text in enumerate(linecache.getlines(file), 1) if shape.search(text.partition("//")[0])]
    return (found[0], marked, label) if len(found) == 1 else (0, "", "")
