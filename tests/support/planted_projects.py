"""References of the operator projects in tests/programs/projects, and copies of scale_shift with planted mistakes."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

PROJECTS = Path(__file__).resolve().parents[1] / "programs" / "projects"
HOST, KERNEL = "op_host/scale_shift.cpp", "op_kernel/scale_shift.cpp"
_CORES = "const uint32_t cores = platform.GetCoreNumAiv();"
#: Name of a mistake -> file, its text, the text that replaces it.
PLANTED = {
    # It handles only whole blocks of 32 bytes.
    "aligned": (KERNEL, "DataCopyPad(yGm[at], y, row);", "DataCopy(yGm[at], y, now);"),
    "tail": (HOST, "(length + perUnit - 1) / perUnit", "length / perUnit"),
    # A fixed rank: tiling refuses others, or takes the first axis for all.
    "rank": (HOST, _CORES, f"{_CORES} if (context->GetInputShape(0)->GetStorageShape().GetDimNum() > 2) return 1;"),
    "axis": (HOST, "GetStorageShape().GetShapeSize()", "GetStorageShape().GetDim(0)"),
    # It handles only the first of two dtypes.
    "dtype": (KERNEL, "Adds(y, y,", "if (sizeof(DTYPE_X) == 2) Adds(y, y,"),
    # The reference's default has a special meaning; an attribute is not read.
    "default": (HOST, "Float(2.0)", "Float(0.0)"),
    "attribute": (HOST, "set_beta(*context->GetAttrs()->GetAttrPointer<float>(1))", "set_beta(0.5f)"),
    "empty": (HOST, "unitsPerBlock == 0 ? 1 : (units", "(units"),
    "nan": (
        KERNEL,
        "outQueue.EnQue(y);",
        "for (uint32_t i = 0; i < now; ++i) { const float v = y.GetValue(i); if (v != v) y.SetValue(i, 0); }"
        " outQueue.EnQue(y);",
    ),
    "compile": (KERNEL, "Muls(y, x,", "missing(); Muls(y, x,"),
}


def planted(folder: Path, *names: str) -> Path:
    """Return a copy of scale_shift with these mistakes. folder: kept between runs, as compiled kernels are."""
    project = folder / "-".join(("scale_shift", *names))
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(PROJECTS / "scale_shift", project)
    for name in names:
        file, old, new = PLANTED[name]
        text = (project / file).read_text()
        assert text.count(old) == 1, old
        (project / file).write_text(text.replace(old, new))
    return project


def scale_shift(x: np.ndarray, alpha: float = 2.0, beta: float = 0.5) -> np.ndarray:
    """Return y = alpha * x + beta."""
    return alpha * x + beta


def refuses(x: np.ndarray, alpha: float = 2.0, beta: float = 0.5) -> np.ndarray:
    """Raise for every call: a reference that accepts none."""
    raise ValueError("never")


def scale_shift_of_two(x: np.ndarray, alpha: float = 0.0, beta: float = 0.5) -> np.ndarray:
    """Return scale_shift's result; an alpha of 0 means 2."""
    return (alpha or 2.0) * x + beta


def row_max(x: np.ndarray) -> np.ndarray:
    """Return the largest element of each row."""
    if x.ndim < 2:
        raise ValueError("no rows")
    return x.max(axis=-1)


def row_bias(x: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """Return x + bias for each row; the bias has the last axis's length, or is None."""
    if not 1 <= x.ndim <= 3 or not x.shape[-1]:
        raise ValueError("one to three axes, the last not empty")
    if bias is None:
        return x
    if bias.shape != x.shape[-1:]:
        raise ValueError("the bias of a row")
    return x + bias
