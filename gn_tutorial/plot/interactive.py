"""The interactive timeline in a notebook: a widget while the notebook's kernel runs, else a picture of the launches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.gantt import gantt, gantt_launches
from gn_tutorial.plot.picture import Picture
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.timeline_data import timeline_json
from gn_tutorial.profiler.timeline_page import front, save_timeline

_WITHOUT = "This picture can be zoomed with the package anywidget: pip install anywidget, then restart the kernel."


@dataclass(frozen=True)
class LiveTimeline:
    """An interactive timeline of one launch, or of several one above the other.

    picture: the PNG that a notebook stores, and its alt text. ``save`` writes one HTML file with the same timeline.
    """

    profiles: tuple[Profile, ...]
    picture: Picture

    def save(self, path: Path) -> None:
        """Write one HTML file.

        Raises ArgumentError if it cannot be written, or if its name does not end in .html or .htm.
        """
        if path.suffix.lower() not in (".html", ".htm"):
            raise ArgumentError(
                f"{path}: the name of a timeline must end in .html", hint="picture.save(path) writes a PNG"
            )
        save_timeline(path, *self.profiles)

    @cached_property
    def widget(self) -> Any:
        """The timeline's widget, for use in other widgets; None without the package anywidget."""
        made = _widget_class()
        return made(data=timeline_json(*self.profiles)) if made else None

    def __repr__(self) -> str:
        return self.picture.alt

    def _repr_mimebundle_(self, **asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = self.picture._repr_mimebundle_(**asked)
        if self.widget is None:
            print(_WITHOUT)
            return data, metadata
        shown = self.widget._repr_mimebundle_(**asked)
        shown, more = shown if isinstance(shown, tuple) else (shown or {}, {})
        return {**shown, **data}, {**more, **metadata}


@cache
def _widget_class() -> Any:
    """Return the widget's class, made on first use; None without the package anywidget."""
    if find_spec("anywidget") is None:
        return None
    import anywidget
    import traitlets

    program, style = front()
    # The data are text, because the widget would compare long lists in its state entry by entry.
    traits = {"_esm": program, "_css": style, "data": traitlets.Unicode().tag(sync=True)}
    return type("TimelineWidget", (anywidget.AnyWidget,), traits)


def timeline(*profiles: Profile) -> LiveTimeline:
    """Return an interactive timeline. Zoom in, or point at a box for its line, its file and what it waited for.

    Several launches stand one above the other on one axis of time. A notebook stores the picture of the slowest
    core of each (``gantt``, ``gantt_launches``). Raises ArgumentError without a launch, and as ``gantt_launches`` does.
    """
    if not profiles:
        raise ArgumentError("there is no launch to draw", hint="timeline(profile), or timeline(before, after)")
    return LiveTimeline(profiles, gantt(*profiles) if len(profiles) == 1 else gantt_launches(*profiles))
