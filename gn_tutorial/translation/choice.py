"""Which language the learner reads: ``$GNT_LANG``, or else the locale's, or else English.

A language is a folder of ``locale``, named as gettext names it. ``GNT_LANG`` that names none is said once, on stderr,
and the texts are English; a locale that names none is English without a word.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

#: The folder of the catalogues, as gettext lays it out: ``locale/zh/LC_MESSAGES/gn_tutorial.mo``.
LOCALE = Path(__file__).resolve().parent / "locale"
#: The language that every text is written in first.
ENGLISH = "en"
VARIABLE = "GNT_LANG"
_OF_THE_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # in the order of setlocale(3)
_chosen: ContextVar[str] = ContextVar("language", default="")


@functools.cache
def languages() -> tuple[str, ...]:
    """The languages there are, English first."""
    return (ENGLISH, *sorted(path.name for path in LOCALE.glob("*") if path.is_dir()))


def language() -> str:
    """The language of texts: that of ``speaking``, or the environment's."""
    named = os.environ.get(VARIABLE, "").strip()
    return _chosen.get() or (_named(named) if named else _of_the_locale())


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Texts that are made inside are in the language ``name``, whatever the environment says."""
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)


@functools.cache
def _named(name: str) -> str:
    """The language that GNT_LANG names; English for one that there is not, which is said once."""
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
    """``zh_CN.UTF-8``, ``zh-CN`` and ``ZH`` are ``zh``."""
    return name.replace("-", "_").partition(".")[0].partition("@")[0].partition("_")[0].lower()
