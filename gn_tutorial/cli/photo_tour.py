"""The tour: the kernels of the registry on the feature map of a real photograph, compared with float64.

It runs every forward kernel in every dtype. Of each backward operator it runs only the last kernel in its first dtype,
so that a tour stays short. Kernels come from the registry and their inputs from ``op.toml``, so a kernel registered
later takes part without a change here. A kernel that fails is a row of the report; the others still run.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.errors import ArgumentError, CacheError, CompilerMissing, GntError
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.random_inputs import expected, saved
from gn_tutorial.operators.registry import all_kernels, load_registry
from gn_tutorial.operators.spec import DATA_DTYPE, Argument, KernelSpec, OpSpec
from gn_tutorial.plot import filters
from gn_tutorial.plot.picture import TourPicture, sample_photo, tour_picture

#: A function that is called before each step with a description, the number of steps done, and the number of all steps.
Progress = Callable[[str, int, int], None]

#: 256 pixels give a feature map of about 0.9 million numbers. The scalar kernel needs well under a second for it, and
#: one group is 860 KB, four times the Unified Buffer.
LONGEST_SIDE = 256
HEADERS = ("kernel", "dtype", "max error", "allowed", "time on the twin", "status")
#: The columns of HEADERS that are aligned to the right.
NUMBERS = ("max error", "allowed", "time on the twin")
_PICTURE = "tour.png"
#: The most compilers that run at once; each takes up to half a gigabyte of memory.
_MOST_COMPILERS = 4


@dataclass(frozen=True)
class TourRow:
    """One kernel on one dtype. ``max_error`` is the largest |kernel - reference| of all outputs.

    ``max_error`` and ``seconds`` are None if the kernel did not run to its end. ``allowed`` is the tolerance as text.
    ``seconds`` is the wall time of the kernel's blocks on the twin, without Python and without ``compile_seconds`` (0
    if the library came from the cache). ``message``: the error, or the outputs that are wrong; empty if there is none.
    """

    kernel: str
    dtype: str
    allowed: str
    status: str
    max_error: float | None = None
    seconds: float | None = None
    compile_seconds: float = 0.0
    blocks: int = 0
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the kernel ran to its end and every element is within tolerance."""
        return self.status == "ok"


@dataclass(frozen=True)
class TourReport:
    """The result of the tour: the photograph, a row for each kernel and dtype, the picture and its alternative text."""

    photo: str
    photo_shape: tuple[int, ...]
    feature_shape: tuple[int, ...]
    num_groups: int
    rows: tuple[TourRow, ...]
    picture: Path | None
    alt: str = field(default="")

    @property
    def ok(self) -> bool:
        """Whether there is at least one row, and every row is ok."""
        return bool(self.rows) and all(row.ok for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as data that ``json.dumps`` takes and that has no NaN."""
        rows = [asdict(row) for row in self.rows]
        for row in rows:
            # JSON has no NaN; a NaN error means that an output has the wrong shape or holds NaN.
            row["max_error"] = row["max_error"] if _is_finite(row["max_error"]) else None
        return {
            "ok": self.ok,
            "photo": self.photo,
            "photo_shape": list(self.photo_shape),
            "feature_shape": list(self.feature_shape),
            "num_groups": self.num_groups,
            "kernels": rows,
            "picture": str(self.picture) if self.picture else None,
            "alt": self.alt,
        }

    def title(self) -> str:
        """Return the title of the table: the feature map's shape, the photograph's name and the reference."""
        shape = " × ".join(map(str, self.feature_shape))
        return f"Feature map {shape} of {self.photo}, compared with float64"

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows of the table under ``HEADERS``, as text."""
        return [
            (
                row.kernel,
                row.dtype,
                "-" if row.max_error is None else _short(f"{row.max_error:.1e}"),
                _short(row.allowed),
                "-" if row.seconds is None else f"{row.seconds * 1e3:.1f} ms",
                row.status,
            )
            for row in self.rows
        ]


def run(
    photo: Path | None,
    out: Path,
    *,
    progress: Progress | None = None,
    longest_side: int = LONGEST_SIDE,
    registry: dict[str, OpSpec] | None = None,
) -> TourReport:
    """Run the tour, write ``out/tour.png``, and return the report. out: a folder, made if it is missing.

    No picture is written if no forward kernel of GroupNorm gives a result of the right shape.
    photo: the user's image, or None for the portrait that Matplotlib ships. registry: the course's by default.
    A wrong kernel is a row, not an exception. Before any kernel is built, ArgumentError is raised for a photograph that
    cannot be used or a folder that cannot be written. CompilerMissing and CacheError are raised, because no kernel can
    run then.
    """
    report_progress = progress or (lambda what, done, total: None)
    folder = _writable(out)
    jobs = [
        (op, spec, dtype)
        for op, spec in all_kernels(load_registry() if registry is None else registry)
        if op.in_tour
        for dtype in _dtypes(op, spec)
    ]
    kernels = {spec.id: Kernel.registered(op, spec) for op, spec, _ in jobs}
    steps = len(kernels) + len(jobs) + 2
    report_progress("filtering the photograph", 0, steps)
    path = sample_photo() if photo is None else Path(photo)
    image = load_photo(path, longest_side=longest_side)
    features = filters.feature_map(image)

    compiling = _build_all(kernels.values(), lambda name, done: report_progress(f"compiling {name}", 1 + done, steps))
    rows: list[TourRow] = []
    shown: TourPicture | None = None
    for done, (op, spec, dtype) in enumerate(jobs, 1 + len(kernels)):
        report_progress(f"{spec.id} on {dtype}", done, steps)
        # The row of a kernel's first dtype gets the compile time: without _build_all, its launch would compile.
        row, outputs, truth = _run_one(kernels[spec.id], op, spec, dtype, features, compiling.pop(spec.id, 0.0))
        rows.append(row)
        first = dtype == spec.dtypes[0]  # float32: the picture shows its errors, and Matplotlib takes no bfloat16
        if op.reference == "group_norm" and first and outputs is not None and outputs["y"].shape == features.shape:
            error = outputs["y"].astype(np.float64) - truth["y"]
            shown = TourPicture(image, features, outputs["y"], error, spec.id, filters.NUM_GROUPS)
    report_progress("drawing the picture", steps - 1, steps)
    picture, alt = None, ""
    if shown is not None:
        drawn = tour_picture(shown)
        picture, alt = folder / _PICTURE, drawn.alt
        drawn.save(picture)
    report_progress("done", steps, steps)
    return TourReport(path.name, image.shape, features.shape, filters.NUM_GROUPS, tuple(rows), picture, alt)


def _build_all(kernels: Iterable[Kernel], progress: Callable[[str, int], None]) -> dict[str, float]:
    """Compile several kernels at once; return the compile seconds, by name, of each kernel that was not in the cache.

    All are compiled before the first launch, because compilers would disturb the times of launches. A kernel that does
    not compile is skipped; its row reports the error. progress: called with a name and the number of kernels done.
    Raises CompilerMissing, CacheError.
    """
    seconds = {}
    with ThreadPoolExecutor(min(_MOST_COMPILERS, os.cpu_count() or 1)) as pool:
        building = {pool.submit(one.build): one.name for one in kernels}
        try:
            for done, future in enumerate(as_completed(building)):
                name = building[future]
                progress(name, done)
                try:
                    built = future.result()
                except (CompilerMissing, CacheError):
                    raise
                except GntError:
                    continue
                if not built.cached:
                    seconds[name] = built.seconds
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return seconds


def _dtypes(op: OpSpec, spec: KernelSpec) -> tuple[str, ...]:
    if op.direction == "forward":
        return spec.dtypes
    return spec.dtypes[:1] if spec == op.kernels[-1] else ()


def _run_one(
    kernel: Kernel, op: OpSpec, spec: KernelSpec, dtype: str, features: np.ndarray, compile_seconds: float
) -> tuple[TourRow, dict[str, np.ndarray] | None, dict[str, np.ndarray]]:
    """Run a kernel on one dtype; return its row, its outputs and the reference's outputs.

    If the kernel fails, the outputs are None and the reference's are empty. Raises CompilerMissing, CacheError.
    """
    allowed = _allowed(spec.tolerance.of(dtype))
    try:
        attributes = _attributes(op)
        arrays: dict[str, np.ndarray] = {}
        for position, a in enumerate(op.inputs):
            arrays[a.name] = saved(a, arrays, attributes) if a.saved_by else _input_data(a, position, features, dtype)
        truth = expected(op, arrays, attributes)
        result = kernel(**arrays, **attributes)
        compared = result.compare(truth, spec.tolerance)
    except (CompilerMissing, CacheError):
        raise
    except GntError as error:
        return TourRow(spec.id, dtype, allowed, "failed", message=str(error)), None, {}
    bad = [row for row in compared.rows if not row.ok]
    message = "; ".join(
        f"{row.name}: {row.note or f'{row.wrong:,} of {result[row.name].size:,} elements out of tolerance'}"
        for row in bad
    )
    row = TourRow(
        kernel=spec.id,
        dtype=dtype,
        allowed=allowed,
        status="ok" if compared.ok else "wrong",
        # np.max keeps NaN, so that a kernel with a NaN error shows NaN. Whether max() keeps NaN depends on the order.
        max_error=float(np.max([row.max_abs for row in compared.rows])),
        seconds=result.seconds,
        compile_seconds=compile_seconds or result.compile_seconds,
        blocks=result.blocks,
        message=message,
    )
    return row, result.outputs, truth


def _input_data(argument: Argument, position: int, features: np.ndarray, dtype: str) -> np.ndarray:
    """Return data for one input: the feature map, or one number per channel.

    An input (N, C, ...) after the first gets the map with its channels and columns reversed. Raises ArgumentError for
    an input of another shape.
    """
    kind = as_dtype(dtype if argument.dtype == DATA_DTYPE else argument.dtype)
    shape = argument.shape or ()
    if shape == ("C",):
        # All numbers differ, so a swapped channel shows. They are near 1 for gamma and near 0 for beta, so gamma used
        # as beta shows too.
        channel = np.arange(features.shape[1])
        return ((argument.fill or 0.0) + 0.3 * np.sin(1.7 * channel + 2.0 * position)).astype(kind)
    if shape == ("N", "S...", "C"):
        return np.ascontiguousarray(np.moveaxis(features, 1, -1), dtype=kind)
    if shape and shape[-1].endswith("..."):
        data = features if position == 0 else features[:, ::-1, :, ::-1]
        return np.ascontiguousarray(data, dtype=kind)
    raise ArgumentError(
        f"the tour has no data for input '{argument.name}' of shape {shape}",
        where="gn_tutorial/cli/photo_tour.py, _input_data",
        hint="say there which numbers of the feature map it gets",
    )


def _attributes(op: OpSpec) -> dict[str, Any]:
    """Return values for the operator's attributes. Only ``num_groups`` gets a value.

    Raises ArgumentError if another attribute has no default.
    """
    known = {"num_groups": filters.NUM_GROUPS}
    missing = [a.name for a in op.attributes if a.default is None and a.name not in known]
    if missing:
        raise ArgumentError(
            f"the tour has no value for '{missing[0]}' of {op.name}", where="gn_tutorial/cli/photo_tour.py, _attributes"
        )
    return {a.name: known[a.name] for a in op.attributes if a.name in known}


def _allowed(tolerance: Tolerance) -> str:
    terms = [f"{tolerance.atol:.0e}"] if tolerance.atol else []
    terms += [f"{tolerance.rtol:.0e} |ref|"] if tolerance.rtol else []
    return " + ".join(terms) or "0"


def _short(numbers: str) -> str:
    """Return 1e-5 for 1e-05, so that a row of the table fits into 80 columns."""
    return re.sub(r"e([+-])0(?=\d)", r"e\1", numbers)


def _is_finite(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))


def _writable(out: Path) -> Path:
    """Make the folder ``out`` if it is missing, and return it. Raises ArgumentError if no file can be made in it.

    This is checked before the kernels run, because they take long.
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".gnt-", dir=folder)
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise ArgumentError(
            f"the folder {folder} cannot be written: {error.strerror or error}",
            where="argument out",
            hint="choose a folder of your own",
        ) from error
    return folder


def load_photo(path: Path, *, longest_side: int) -> np.ndarray:
    """Return a photograph, upright and scaled down so that no side is longer than ``longest_side`` pixels.

    It is uint8 of shape (H, W, 3). A smaller photograph keeps its size; an animation gives its first frame. Raises
    ArgumentError for a path that is missing, a folder or not an image, for a truncated or damaged file, and for an
    image with too many pixels.
    """
    where = f"photograph {path}"
    if not path.exists():
        raise ArgumentError(f"there is no file {path.name}", where=where, hint="check the path")
    if path.is_dir():
        raise ArgumentError(f"{path.name} is a folder", where=where, hint="name one image file in it")
    try:
        with Image.open(path) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
    except Image.UnidentifiedImageError:
        raise ArgumentError(
            f"{path.name} is not an image that can be read", where=where, hint="use a JPEG, PNG or WebP file"
        ) from None
    except Image.DecompressionBombError:
        raise ArgumentError(
            f"{path.name} has too many pixels to open safely", where=where, hint="save a smaller copy of it"
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow's decoders raise all four for damaged files; the text names the damage ("image file is truncated").
        raise ArgumentError(
            f"{path.name} cannot be read: {error}",
            where=where,
            hint="open it in a viewer and save it again",
        ) from error
    upright.thumbnail((longest_side, longest_side), Image.Resampling.LANCZOS)
    return np.asarray(upright)
