"""Finds casts to another address space in clang's syntax tree, and adds them to clang's messages as errors.

clang refuses to lose an address space in a conversion, a ``static_cast`` and a ``reinterpret_cast``. It obeys a cast in
C's style, ``(float*)x``, without a word. Its tree names each conversion of an address space, however it is written;
only a pointer that was a number in between is not one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: The flags with which clang prints its tree after its errors.
TREE_FLAGS = ("-Xclang", "-ast-dump")
_TREE = b"TranslationUnitDecl 0x"
_CONVERSION = b"<AddressSpaceConversion>"
# A node has its begin, its end and, if it is a declaration, the place of its name. Of a place, clang leaves out the
# file and the line if they are those of the place before.
_PLACE = r"(?:(?:col|(line|[^<>'\"]+?|<[\w -]+>):(\d+)):\d+|<invalid sloc>)"
_NODE = re.compile(rf"[^'\"<]*<{_PLACE}(?:, {_PLACE})?>(?: {_PLACE})?")
_TYPE = re.compile(r"('[^']*'(?::'[^']*')?)")
_SPACE = re.compile(r"__(gm|ubuf)__|address_space\((\d)\)")


def with_casts(output: bytes, most: int) -> str:
    """Return clang's messages, at most that many bytes, and after them an error for each cast that loses a memory.

    output: what clang prints with ``TREE_FLAGS``; the tree is left out.
    """
    begin = output.find(_TREE)
    messages, tree = (output, b"") if begin < 0 else (output[:begin], output[begin:])
    return messages[:most].decode("utf-8", "replace") + "".join(f"{one}\n" for one in dict.fromkeys(_casts(tree)))


def _casts(tree: bytes) -> Iterator[str]:
    at = -1
    while (at := tree.find(_CONVERSION, at + 1)) >= 0:
        operand = tree.find(b"\n", at) + 1  # the next line
        old, new = (_TYPE.search(_line(tree, one)) for one in (operand, at))
        # A cast from no memory to one is how an address becomes a pointer into it.
        if old and new and (_SPACE.search(old[1]) or not _SPACE.search(new[1])):
            yield f"{_place(tree, at)}: error: cast from {old[1]} to {new[1]} changes the address space"


def _place(tree: bytes, at: int) -> str:
    """Return ``file:line`` of the node at this byte: what its begin says, and the nearest places before it."""
    line, parts = "", 2  # of the node itself, only the begin comes before
    while at >= 0:
        found = _NODE.match(_line(tree, at))
        said = list(found.groups()[:parts]) if found else []
        while said:
            number, file = said.pop(), said.pop()
            line = line or number or ""
            if file and file != "line":
                return f"{file}:{line}"
        at, parts = tree.rfind(b"\n", 0, at), 6
    return "?:0"


def _line(tree: bytes, at: int) -> str:
    """Return the line of the tree around this byte; for the byte of a line end, the line that ends there."""
    end = tree.find(b"\n", at)
    return tree[tree.rfind(b"\n", 0, at) + 1 : end if end >= 0 else None].decode("utf-8", "replace")
