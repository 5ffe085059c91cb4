"""The text of a source file, and the file's name for people."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from pathlib import Path

_LARGEST = 16 << 20


def source_text(path: Path) -> str:
    """The text of a source file, without a byte-order mark.

    Raises OSError for text in UTF-16, and unless it is a regular file of at most 16 MiB: one that a source includes
    may be /dev/zero, which has no end, or a pipe, at which a reader waits for ever.
    """
    # O_NONBLOCK: to open a pipe that nobody writes to would wait; looked at when open, so that it is the file read.
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(opened, "rb") as file:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if found.st_size > _LARGEST:
            raise OSError(errno.EFBIG, f"it has more than {_LARGEST >> 20} MiB", str(path))
        text = file.read(_LARGEST)
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise OSError(errno.EILSEQ, "it is in UTF-16, which no compiler takes: save it in UTF-8", str(path))
    return text.decode("utf-8-sig", "replace")


def readable_text(path: Path) -> str:
    """``source_text``, or nothing where that cannot be read: for files that are looked at, not asked for."""
    try:
        return source_text(path)
    except OSError:
        return ""


#: White space of Unicode. clang, and so the device's compiler, takes each for a blank (UnicodeWhitespaceChars in
#: clang/lib/Lex/UnicodeCharSets.h); g++ refuses it as part of a name. Text that is copied from a web page has some.
_BLANKS = "\u0085\u00a0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BLANK_OR_QUOTED = re.compile(rf'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|[{_BLANKS}]', re.DOTALL)


def with_plain_blanks(text: str) -> str:
    """The text with a blank for each Unicode white space outside literals and comments: columns stay."""
    return _BLANK_OR_QUOTED.sub(lambda found: " " if len(found[0]) == 1 else found[0], text)


def short(path: Path) -> str:
    """A path for people: from the working folder or the home folder if it is inside; a cell's file by its name."""
    if path.parent.name == "sources" and path.name.startswith("cell_"):
        return path.name
    for base, mark in ((Path.cwd(), ""), (Path.home(), "~" + os.sep)):
        if path.is_relative_to(base) and base != Path(base.anchor):
            return mark + str(path.relative_to(base))
    return str(path)
