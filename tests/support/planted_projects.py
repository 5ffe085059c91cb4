"""References of the operator projects in tests/programs/projects, and copies of scale_shift with mistakes planted."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

PROJECTS = Path(__file__).resolve().parents[1] / "programs" / "projects"
HOST, KERNEL = "op_host/scale_shift.cpp", "op_kernel/scale_shift.cpp"
_CORES = "const uint32_t cores = platform.GetCoreNumAiv();"
#: Name -> file, what stands there, what stands there instead.
PLANTED = {
    # Whole blocks of 32 bytes only.
    "aligned": (KERNEL, "DataCopyPad(yGm[at], y, row);", "DataCopy(yGm[at], y, now);"),
    "tail": (HOST, "(length + perUnit - 1) / perUnit", "length / perUnit"),
    # A fixed rank: refused, or the first axis taken for all.
    "rank": (HOST, _CORES, f"{_CORES} if (context->GetInputShape(0)->GetStorageShape().GetDimNum() > 2) return 1;"),
    "axis": (HOST, "GetStorageShape().GetShapeSize()", "GetStorageShape().GetDim(0)"),
    # Only the first of two dtypes.
    "dtype": (KERNEL, "Adds(y, y,", "if (sizeof(DTYPE_X) == 2) Adds(y, y,"),
    # The default of the reference means something special, an attribute is not read.
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
    """A copy of scale_shift with these mistakes. folder: kept between runs, as compiled kernels are."""
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
    """y = alpha * x + beta."""
    return alpha * x + beta


def refuses(x: np.ndarray, alpha: float = 2.0, beta: float = 0.5) -> np.ndarray:
    """A reference that takes no call."""
    raise ValueError("never")


def scale_shift_of_two(x: np.ndarray, alpha: float = 0.0, beta: float = 0.5) -> np.ndarray:
    """As scale_shift, where an alpha of 0 stands for 2."""
    return (alpha or 2.0) * x + beta


def row_max(x: np.ndarray) -> np.ndarray:
    """The largest of each row."""
    if x.ndim < 2:
        raise ValueError("no rows")
    return x.max(axis=-1)


def row_bias(x: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """x + bias for each row, with a bias of the last axis's length or none."""
    if not 1 <= x.ndim <= 3 or not x.shape[-1]:
        raise ValueError("one to three axes, the last not empty")
    if bias is None:
        return x
    if bias.shape != x.shape[-1:]:
        raise ValueError("the bias of a row")
    return x + bias
