"""Runs ``gnt lab``: updates the copies of the notebooks, chooses a port, starts JupyterLab, opens the browser."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gn_tutorial import __version__
from gn_tutorial.course.lab import server, server_address
from gn_tutorial.course.lab.folder import CourseFolder, default_folder, notebooks_root
from gn_tutorial.course.lab.update import Copies, News
from gn_tutorial.errors import ArgumentError

_SECTIONS = 3  # the largest number of new sections to name; further ones are only counted

say = partial(print, flush=True)


@dataclass(frozen=True)
class Wish:
    """The options of ``gnt lab``. copies: only make or update the copies. more: options for JupyterLab itself."""

    notebook: str = ""
    folder: Path | None = None
    port: int | None = None
    browser: bool = True
    reset: bool = False
    copies: bool = False
    more: tuple[str, ...] = ()


def open_lab(wish: Wish) -> None:
    """Update the copies. Then, unless ``copies`` is set, start JupyterLab, or show its address if it runs already.

    If it runs on another port than the requested one, it is started once more. Raises ArgumentError for a wrong
    notebook or ``reset`` without one, and GntError if JupyterLab cannot start.
    """
    course = notebooks_root()
    name = find_notebook(wish.notebook, sorted(path.name for path in course.glob("*.ipynb")))
    if wish.reset and not wish.notebook:
        raise ArgumentError("--reset needs the notebook's number", hint="gnt lab 03 --reset")
    if not wish.copies:
        server.need_jupyterlab()
    folder = CourseFolder(wish.folder.expanduser().absolute() if wish.folder else default_folder())
    refused = folder.prepare()
    copies = Copies(folder.notebooks, course, folder.state / "manifest.json", __version__)
    news = copies.update()
    for line in told(news, folder.notebooks):
        say(line)
    if wish.reset:
        news.append(copies.anew(name))
        say(told_of_reset(news[-1]))
    if refused:
        say(f"This file system has no links, so {', '.join(refused)} cannot be opened from the notebooks.")
    running = server_address.server_of(folder.root)
    if running and any(one.kind in ("updated", "set aside") for one in news):
        say("One that is open in the browser: File > Reload Notebook from Disk.")
    if not running:
        copies.drop_widgets()
    if not wish.copies:
        _start(wish, folder, f"notebooks/{name}", running, linked="my_exercises" not in refused)


def find_notebook(word: str, names: Sequence[str]) -> str:
    """Return the notebook that a word names: "3", "03", a name or a path; the first notebook for an empty word.

    Raises ArgumentError, which suggests the nearest names, or says which numbers there are.
    """
    if not word:
        return names[0]
    stem = Path(word).name.removesuffix(".ipynb")
    number = f"{int(stem):02}" if re.fullmatch(r"[0-9]{1,3}", stem) else ""
    for name in names:
        if name.removesuffix(".ipynb") == stem or (number and name.startswith(f"{number}_")):
            return name
    stems = [name.removesuffix(".ipynb") for name in names]
    near = difflib.get_close_matches(stem, stems, n=2, cutoff=0.4)
    numbers = f"there are {stems[0][:2]} to {stems[-1][:2]}"
    raise ArgumentError(
        f"there is no notebook '{word}'", hint=f"did you mean {' or '.join(near)}?" if near else numbers
    )


def told(news: Sequence[News], folder: Path) -> Iterator[str]:
    """Yield lines that tell the learner what an update did with the copies; no lines if it did nothing."""
    by_kind: dict[str, list[News]] = defaultdict(list)
    for one in news:
        by_kind[one.kind].append(one)
    if made := by_kind["copied"]:
        which = made[0].name if len(made) == 1 else f"{len(made)} notebooks"
        yield f"Copied {which} to {folder}: run and change them as you like."
    if by_kind["updated"]:
        yield "The course has changed. These copies, in which you wrote nothing, are now the new versions:"
        yield from (f"  {one.name}{_in(one.sections)}" for one in by_kind["updated"])
    if by_kind["kept"]:
        yield "The course has changed. You wrote in these copies, so they stay, and the new ones are beside them:"
        yield from (f"  {one.name}: {one.beside}{_in(one.sections)}" for one in by_kind["kept"])
        number = by_kind["kept"][0].name.partition("_")[0]
        yield f"  (gnt lab {number} --reset replaces yours with the new one, and keeps yours beside it.)"
    if by_kind["gone"]:
        yield f"No longer in the course, and removed: {', '.join(one.name for one in by_kind['gone'])}."
    if by_kind["left"]:
        yield f"No longer in the course; your copies stay: {', '.join(one.name for one in by_kind['left'])}."


def _in(sections: Sequence[str]) -> str:
    if not sections:
        return ""
    more = len(sections) - _SECTIONS
    named = ", ".join(f"'{one}'" for one in sections[:_SECTIONS])
    return f", new in {named}" + (f" and {more} more" if more > 0 else "")


def told_of_reset(one: News) -> str:
    """Return the line that reports the notebook restored by ``--reset``."""
    kept = f"; yours is {one.beside} now" if one.beside else ", and you had written nothing in it"
    return f"{one.name} is the course's again{kept}."


def _start(wish: Wish, folder: CourseFolder, opened: str, running: server_address.Server | None, linked: bool) -> None:
    if running and wish.port in (None, running.port):
        say("JupyterLab already runs on this folder. Its address:")
        _show(running.address(opened), running.port, wish.browser)
        return
    port, why = server_address.choose_port(wish.port)
    if why:
        say(f"{why[0].upper()}{why[1:]}.")
    if server.is_root():
        say("You are root, so notebooks run with all of root's rights. Better: an account of your own.")
    say("Starting JupyterLab ...")

    def ready(address: str) -> None:
        say("JupyterLab runs. Its address, with the key to it:")
        _show(address, port, wish.browser)
        say(f"Ctrl-C here stops it. Its log: {folder.state / 'lab.log'}")

    request = server.Request(folder, opened, port, wish.more, linked)
    try:
        server.serve(request, say, ready)
    except KeyboardInterrupt:
        say("JupyterLab is stopped. gnt lab starts it again.")


def _show(address: str, port: int, browser: bool) -> None:
    say(f"  {address}")
    if not browser:
        return
    found = server_address.graphical_browser()
    if found is None or not found.open(address):
        for line in server_address.no_browser_lines(port):
            say(line)
