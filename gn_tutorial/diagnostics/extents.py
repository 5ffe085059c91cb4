"""Says which numbers of a call make the bytes of an operand, with their units, and which would do.

The twin sends an extent as a field (events/report.h): ``needs``, whether the operand should be longer (else shorter),
and for each number its name, value, unit, the bytes of a unit, the value that would do, or -1, and the name of its
rule. The rules, how the numbers count, are in words.toml.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gn_tutorial.diagnostics.catalogue import shared
from gn_tutorial.translation.texts import translated

#: The field of the operand that the finding is about; another call's is ``<place>_extent``.
_OWN = "extent"
#: A length in the struct DataCopyParams has so many bits. A larger number loses the others.
_LENGTH, _BITS = "blockLen", 16


class _Number(NamedTuple):
    name: str
    value: int
    unit: str
    unit_bytes: int
    other: int
    rule: str


def rules() -> Mapping[str, str]:
    """Return name of a rule -> how a number of a call counts. It follows the fix of a finding with such a number."""
    return shared().rules


def sentences(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each extent among the facts: first those of other calls, then the finding's own."""
    return [_sentence(place, extent, facts) for place, extent in _extents(facts)]


def fixes(facts: Mapping[str, Any]) -> list[str]:
    """Return the rules of the numbers for which another would do; if there are none, those of all numbers.

    A number of rows or repeats, which comes first, is less often wrong than what they are multiplied with.
    """
    numbers = [(place, one) for _, extent in _extents(facts) for place, one in enumerate(_numbers(extent))]
    wrong = [(place, one) for place, one in numbers if one.other >= 0]
    for some in ([one for place, one in wrong if place > 0], [one for _, one in wrong], [one for _, one in numbers]):
        if names := dict.fromkeys(one.rule for one in some if one.rule in rules()):
            return [rules()[name] for name in names]
    return []


def _extents(facts: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    found = [
        (key.removesuffix(_OWN), one) for key, one in facts.items() if key.endswith(_OWN) and isinstance(one, dict)
    ]
    return sorted(found, key=lambda one: one[0] == "")


def _numbers(extent: Mapping[str, Any]) -> Iterator[_Number]:
    return (_Number(*one) for one in extent["numbers"])


def _sentence(place: str, extent: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    said = functools.reduce(_then, [_said(one, needs=extent["needs"]) for one in _numbers(extent)])
    if not place:
        return translated("The call's numbers: {numbers}.").format(numbers=said)
    template = translated("The numbers of {op} in line {line}: {numbers}.")
    return template.format(op=facts.get(f"{place}op", "?"), line=facts.get(f"{place}line", "?"), numbers=said)


def _then(before: str, last: str) -> str:
    return translated("{before}, {last}").format(before=before, last=last)


def _said(number: _Number, *, needs: bool) -> str:
    """Return a number as ``blockLen 4 (blocks of 32 bytes, 128 bytes; at most 2)``, without what says nothing."""
    notes = [_unit(number)] if number.unit and (number.value > 1 or number.other >= 0) else []
    notes += [_other(number, needs=needs)] if number.other >= 0 else []
    if not notes:
        return f"{number.name} {number.value}"
    both = translated("{unit}; {other}").format(unit=notes[0], other=notes[1]) if len(notes) > 1 else notes[0]
    return translated("{name} {value} ({notes})").format(name=number.name, value=number.value, notes=both)


def _unit(number: _Number) -> str:
    if number.unit_bytes == 1 or number.value == 0:
        return translated(number.unit)
    bytes_ = number.value * number.unit_bytes
    return translated("{unit}, {bytes} bytes").format(unit=translated(number.unit), bytes=bytes_)


def _other(number: _Number, *, needs: bool) -> str:
    if not needs and number.other > 0:
        return translated("at most {other}").format(other=number.other)
    if number.name == _LENGTH and number.other > number.value and (number.other - number.value) % (1 << _BITS) == 0:
        lost = translated("{other} would do, with DataCopyExtParams: the 16 bits of DataCopyParams make it {value}")
        return lost.format(other=number.other, value=number.value)
    return translated("{other} would do").format(other=number.other)
