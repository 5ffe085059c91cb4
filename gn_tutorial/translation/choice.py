"""Choose the learner's language: ``$GNT_LANG``, else the locale's, else English.

Each language but English has a folder in ``locale``, named by its gettext code. If ``GNT_LANG`` names an unknown
language, a message on stderr says so once, and the texts are English; an unknown locale means English without a
message.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

#: The folder of the catalogues, in gettext's layout: ``locale/zh/LC_MESSAGES/gn_tutorial.mo``.
LOCALE = Path(__file__).resolve().parent / "locale"
#: The language in which every text is written first.
ENGLISH = "en"
VARIABLE = "GNT_LANG"
_OF_THE_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # in the order of setlocale(3)
_chosen: ContextVar[str] = ContextVar("language", default="")


@functools.cache
def languages() -> tuple[str, ...]:
    """Return the codes of all languages, English first."""
    return (ENGLISH, *sorted(path.name for path in LOCALE.glob("*") if path.is_dir()))


def language() -> str:
    """Return the code of the current language: the one that ``speaking`` set, else the environment's."""
    named = os.environ.get(VARIABLE, "").strip()
    return _chosen.get() or (_named(named) if named else _of_the_locale())


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Use the language ``name`` inside this context, whatever the environment says."""
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)


@functools.cache
def _named(name: str) -> str:
    """Return the language that GNT_LANG names; for an unknown one print a message once and return English."""
    if _code(name) in languages():
        return _code(name)
    there = ", ".join(languages())
    print(f"gnt: {VARIABLE}={name} names no language of the course, so its texts are English", file=sys.stderr)
    print(f"     there are {there}; docs/translating.md says how to add one", file=sys.stderr)
    return ENGLISH


def _of_the_locale() -> str:
    named = next((os.environ[name] for name in _OF_THE_LOCALE if os.environ.get(name)), "")
    return _code(named) if _code(named) in languages() else ENGLISH


def _code(name: str) -> str:
    """Return the language's code: ``zh`` for ``zh_CN.UTF-8``, ``zh-CN`` and ``ZH``."""
    return name.replace("-", "_").partition(".")[0].partition("@")[0].partition("_")[0].lower()
