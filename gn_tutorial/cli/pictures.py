"""The pictures and files that ``gnt profile`` and its like may write: which there are, and where they may go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from gn_tutorial.profiler.profile import Profile

#: What ``--picture`` may be, and what it shows.
PICTURES = {
    "pipes": "the pipes of one core over time",
    "cores": "the pipes of every recorded core",
    "ub": "what the Unified Buffer holds when",
    "gm": "which addresses of global memory are touched when",
    "limits": "what the launch cannot be faster than",
    "roofline": "elements per second against elements per byte",
}


@dataclass(frozen=True)
class View:
    """Which picture to draw. block, window: of those pictures that show one core, and a part of the time."""

    picture: str = "pipes"
    block: int | None = None
    window: str = ""


def parse_window(text: str) -> tuple[float, float] | None:
    """``0.5,2`` -> (0.5, 2.0), in microseconds; nothing: everything. Raises ArgumentError."""
    if not text:
        return None
    try:
        start, end = (float(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(f"--window {text}: two numbers are needed", hint="from,to in us: --window 0.5,2") from None
    return start, end


def check_files(plot: Path | None, trace: Path | None, view: View) -> None:
    """Raise ArgumentError for files and pictures that cannot be, before anything runs for minutes."""
    if view.picture not in PICTURES:
        raise ArgumentError(f"there is no picture '{view.picture}'", hint=f"one of {', '.join(PICTURES)}")
    parse_window(view.window)
    if plot is None and view != View():
        raise ArgumentError("--picture, --block and --window belong to a picture", hint="--plot FILE.png")
    check_paths(plot, trace)


def check_paths(plot: Path | None, trace: Path | None = None) -> None:
    """Raise ArgumentError for a picture that is no .png, and for a file in a folder that does not exist."""
    if plot is not None and plot.suffix.lower() != ".png":
        raise ArgumentError(f"--plot {plot}: a picture is a .png file")
    for option, path in (("--plot", plot), ("--trace", trace)):
        if path is not None and not path.resolve().parent.is_dir():
            raise ArgumentError(f"{option} {path}: there is no folder {path.parent}")


def draw(profile: Profile, path: Path, view: View) -> None:
    """Write one picture. Raises ArgumentError for a block or a window that the profile does not have."""
    from gn_tutorial.plot.gantt import gantt, gantt_cores
    from gn_tutorial.plot.global_memory import gm_access
    from gn_tutorial.plot.roofline import launch_roofline, limits
    from gn_tutorial.plot.unified_buffer import ub_map

    window = parse_window(view.window)
    one_core: dict[str, Callable[..., Any]] = {"pipes": gantt, "ub": ub_map}
    over_time: dict[str, Callable[..., Any]] = {"cores": gantt_cores, "gm": gm_access}
    if view.block is not None and view.picture not in one_core:
        raise ArgumentError(f"--block: the picture '{view.picture}' is not of one block")
    if window and view.picture not in one_core | over_time:
        raise ArgumentError(f"--window: the picture '{view.picture}' has no time axis")
    if view.picture in one_core:
        made = one_core[view.picture](profile, block=view.block, window=window)
    elif view.picture in over_time:
        made = over_time[view.picture](profile, window=window)
    else:
        made = {"limits": limits, "roofline": launch_roofline}[view.picture](profile)
    made.save(path)
