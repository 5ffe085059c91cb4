"""A text in the learner's language, by gettext: the key is the English text itself.

So a translation cannot outlive what it translates: where the English changes, its key is gone, and the learner reads
the new English until somebody has translated it (docs/translating.md).
"""

from __future__ import annotations

import functools
import gettext

from gn_tutorial.translation.choice import ENGLISH, LOCALE, language

DOMAIN = "gn_tutorial"


def translated(text: str) -> str:
    """The text in the learner's language; the text itself where the language has none for it.

    A template is translated before it is filled in: its names in braces are those of the English one.
    """
    key = key_of(text)
    if not key or (chosen := language()) == ENGLISH:  # gettext keeps its own notes under the empty text
        return text
    found = _catalogue(chosen).gettext(key)
    return text if found == key else found


def key_of(text: str) -> str:
    """What a text is found under: where its lines are broken does not count."""
    return " ".join(text.split())


@functools.cache
def _catalogue(name: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, LOCALE, [name], fallback=True)
