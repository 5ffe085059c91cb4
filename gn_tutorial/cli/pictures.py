"""The pictures and files that ``gnt profile`` and similar commands write: their names, checks of paths, drawing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gn_tutorial.cli.terminal import working
from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from gn_tutorial.diagnostics.findings import Diagnostic
    from gn_tutorial.profiler.profile import Profile

#: The values of ``--picture``, and what each picture shows.
PICTURES = {
    "pipes": "the pipes of one core over time",
    "cores": "the pipes of every recorded core",
    "ub": "what the Unified Buffer holds when",
    "gm": "which addresses of global memory are touched when",
    "limits": "the limits of the launch's time",
    "roofline": "elements per second against elements per byte",
}


@dataclass(frozen=True)
class View:
    """Which picture to draw.

    picture: a name in PICTURES; "": the first. block: the block to draw in a picture of one core; None: the slowest.
    window: the part of the time to draw, in us, such as "0.5,2"; "": all of it.
    """

    picture: str = ""
    block: int | None = None
    window: str = ""

    @property
    def name(self) -> str:
        """``picture``, or the first name in PICTURES if that is empty."""
        return self.picture or next(iter(PICTURES))

    def path(self, target: str) -> Path | None:
        """Return the default path, such as group_norm_scalar_pipes.png; None if this view has only default values."""
        return None if self == View() else Path(f"{_file_stem(target)}_{self.name}.png")


def parse_window(text: str) -> tuple[float, float] | None:
    """Return a window in microseconds: (0.5, 2.0) for ``0.5,2``.

    An empty text gives None, which means the whole time. Raises ArgumentError for a text that is not two numbers.
    """
    if not text:
        return None
    try:
        start, end = (float(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(f"--window {text}: two numbers are needed", hint="from,to in us: --window 0.5,2") from None
    return start, end


def _file_stem(target: str) -> str:
    """Return the name of a kernel, a file or a folder in a form that fits into a file name."""
    path = Path(target)
    last = path.resolve().stem if path.exists() else target
    return re.sub(r"\W+", "_", last).strip("_")


def check_files(plot: Path | None, trace: Path | None, view: View, html: Path | None = None) -> None:
    """Raise ArgumentError for an unknown picture, a wrong window or a wrong path. Call it before slow work."""
    if view.name not in PICTURES:
        raise ArgumentError(f"there is no picture '{view.picture}'", hint=f"one of {', '.join(PICTURES)}")
    parse_window(view.window)
    check_paths(plot, trace, html)


def check_paths(plot: Path | None, trace: Path | None = None, html: Path | None = None) -> None:
    """Raise ArgumentError for a picture that is no .png, a page that is no .html or .htm, or a missing folder."""
    if plot is not None and plot.suffix.lower() != ".png":
        raise ArgumentError(f"--plot {plot}: the name of a picture must end in .png")
    if html is not None and html.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(f"--html {html}: the name of a page must end in .html")
    for option, path in (("--plot", plot), ("--trace", trace), ("--html", html)):
        if path is not None and not path.resolve().parent.is_dir():
            raise ArgumentError(f"{option} {path}: there is no folder {path.parent}")


def write_page(path: Path, *profiles: Profile) -> None:
    """Write the interactive timeline of the profiles as an HTML page.

    Raises ArgumentError if there is no profile, or the file cannot be written.
    """
    from gn_tutorial.profiler.timeline_page import save_timeline

    with working(f"writing {path}"):
        save_timeline(path, *profiles)


def say_page(path: Path) -> None:
    """Print the path and the address of the interactive timeline."""
    print(f"timeline: {path} (open it in a browser: {path.resolve().as_uri()})")


def draw_finding(found: Sequence[Diagnostic], path: Path) -> None:
    """Write a picture of the first error, or of the first finding if there is no error.

    Print the picture's path on standard error. If the twin found nothing, write no picture, and print that instead.
    Raises ArgumentError if the file cannot be written.
    """
    from gn_tutorial.diagnostics.findings import Findings
    from gn_tutorial.plot.finding import finding

    if found:
        finding(Findings(found).ordered[0]).save(path)
    print(
        f"picture: {path}" if found else f"no picture, because the twin found nothing: {path} was not written",
        file=sys.stderr,
    )


def draw(profile: Profile, path: Path, view: View) -> None:
    """Write one picture.

    Raises ArgumentError for a block or a window that the profile or this picture cannot have, if there is nothing to
    draw, or if the file cannot be written.
    """
    from gn_tutorial.plot.gantt import gantt, gantt_cores
    from gn_tutorial.plot.global_memory import gm_access
    from gn_tutorial.plot.roofline import launch_roofline, limits
    from gn_tutorial.plot.unified_buffer import ub_map

    window = parse_window(view.window)
    one_core: dict[str, Callable[..., Any]] = {"pipes": gantt, "ub": ub_map}
    over_time: dict[str, Callable[..., Any]] = {"cores": gantt_cores, "gm": gm_access}
    if view.block is not None and view.name not in one_core:
        raise ArgumentError(f"--block: the picture '{view.name}' is not of one block")
    if window and view.name not in one_core | over_time:
        raise ArgumentError(f"--window: the picture '{view.name}' has no time axis")
    if view.name in one_core:
        made = one_core[view.name](profile, block=view.block, window=window)
    elif view.name in over_time:
        made = over_time[view.name](profile, window=window)
    else:
        made = {"limits": limits, "roofline": launch_roofline}[view.name](profile)
    made.save(path)
