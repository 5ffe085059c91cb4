"""Translate a text into the learner's language, by gettext. The key is the English text itself.

So no translation can be outdated: if the English changes, its key is gone, and the learner reads the new English until
somebody translates it (docs/translating.md).
"""

from __future__ import annotations

import functools
import gettext

from gn_tutorial.translation.choice import ENGLISH, LOCALE, language

DOMAIN = "gn_tutorial"


def translated(text: str) -> str:
    """Return the text in the learner's language, or the text itself if it has no translation.

    Translate a template before you fill it in; the translation has the same names in braces.
    """
    key = key_of(text)
    if not key or (chosen := language()) == ENGLISH:  # the empty key holds the catalogue's header
        return text
    found = _catalogue(chosen).gettext(key)
    return text if found == key else found


def key_of(text: str) -> str:
    """Return the key of a text: the text with one space in place of each line break or other white space."""
    return " ".join(text.split())


@functools.cache
def _catalogue(name: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, LOCALE, [name], fallback=True)
