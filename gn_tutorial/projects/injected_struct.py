"""The tiling struct that the build of an 8.x project hands to its kernel: made of the host's macros, numbers filled in.

The host's own header is no substitute, as it may include headers of the host side.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gn_tutorial.cpp.tiling_fields import Unreadable, macro_fields, number

_MACROS = {"": "TILING_DATA_FIELD_DEF", "_ARR": "TILING_DATA_FIELD_DEF_ARR", "_STRUCT": "TILING_DATA_FIELD_DEF_STRUCT"}


def injected_header(op_type: str, chosen: str, texts: Mapping[Path, str], others: tuple[str, ...] = ()) -> str | None:
    """A header with the struct ``chosen`` as the default of ``op_type``, and ``others``; None where one is unreadable.

    texts: of the project's files, comments removed. Nested structs come along.
    """
    written: dict[str, str] = {}
    try:
        for name in (*others, chosen):
            _write(name, texts, written, ())
    except Unreadable:
        return None
    lines = ['#include "register/tilingdata_base.h"', "namespace optiling {", *written.values()]
    return "\n".join([*lines, f"REGISTER_TILING_DATA_CLASS({op_type}, {chosen})", "}", ""])


def _write(name: str, texts: Mapping[Path, str], written: dict[str, str], inside: tuple[str, ...]) -> None:
    if name in written:
        return
    if name in inside:
        raise Unreadable(name)
    lines = [f"BEGIN_TILING_DATA_DEF({name})"]
    for kind, ctype, field, count in macro_fields(name, texts):
        if kind == "_STRUCT" and any(f"({ctype})" in text for text in texts.values()):  # else one of CANN's own
            _write(ctype, texts, written, (*inside, name))
        words = [ctype, str(number(count, texts)), field] if kind == "_ARR" else [ctype, field]
        lines.append(f"{_MACROS[kind]}({', '.join(words)});")
    written[name] = "\n".join([*lines, "END_TILING_DATA_DEF;"])
