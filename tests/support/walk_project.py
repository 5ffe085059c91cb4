"""The project of docs/project-walk.md, made from the texts on that page."""

from __future__ import annotations

import re
from pathlib import Path

from gn_tutorial.projects.new_project import new_project

PAGE = (Path(__file__).parents[2] / "docs" / "project-walk.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
_FIELDS, _FIRST, _CLASS, _SECOND = (text for language, text in BLOCKS if language == "cpp")
_REFERENCE, _GOLDEN = (text for language, text in BLOCKS if language == "python")
_HOST, _HEADER, _KERNEL = "op_host/half_swish.cpp", "op_host/half_swish_tiling.h", "op_kernel/half_swish.cpp"
_END_OF_TILING = "}\n\n}  // namespace optiling"


def write_walk_project(folder: Path) -> Path:
    """Write half_swish.json, ref.py and HalfSwish into ``folder``, as they are after the page's second step."""
    (folder / "half_swish.json").write_text(next(text for language, text in BLOCKS if language == "json"))
    (folder / "ref.py").write_text(_REFERENCE)
    root = new_project(folder / "half_swish.json", folder / "HalfSwish", "8.x")
    _edit(root / _HEADER, "// YOUR TURN", "END_TILING_DATA_DEF", _FIELDS)
    _edit(root / _HOST, "  // YOUR TURN: read", _END_OF_TILING, _FIRST)
    _edit(root / _KERNEL, "class KernelHalfSwish", 'extern "C"', f"{_CLASS}\n")
    _edit(root / _KERNEL, "  (void)tilingData;", "  KernelHalfSwish op;", "")
    call = re.search(r"`(op\.Init\(x, y, .*?\))`", PAGE)
    assert call
    _edit(root / _KERNEL, "op.Init(x, y);", "\n  op.Process", f"{call[1]};")
    _edit(root / "AclNNInvocation" / "gen_data.py", "    raise SystemExit", "\n\nif __name__", _GOLDEN)
    return root


def write_second_tiling(root: Path) -> None:
    """Write the tiling function of the page's third step."""
    _edit(root / _HOST, "  HalfSwishTilingData tiling;", _END_OF_TILING, _SECOND)


def _edit(path: Path, begin: str, end: str, new: str) -> None:
    """Replace the text from ``begin`` up to ``end`` by ``new``."""
    text = path.read_text(encoding="utf-8")
    first = text.index(begin)
    path.write_text(text[:first] + new + text[text.index(end, first) :], encoding="utf-8")
