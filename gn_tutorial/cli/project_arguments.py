"""Turns the options ``--in``, ``--attr`` and ``--out`` of ``gnt project run`` into the values of a call, and back."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from gn_tutorial.cli.run_arguments import array_of, array_type_of
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import out
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.parameters import OpAttribute

_ABSENT = "none"


def inputs_of(definition: OpDefinition, words: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the inputs that the words of ``--in`` describe, by name.

    ``float16[8,2048]`` or ``x=float16[8,2048]`` is an array of random numbers, ``@file.npy`` the array of the file,
    ``none`` an omitted input (None). ``bfloat16@file.npy`` reads the file's bits as bfloat16, a dtype that .npy files
    cannot name. A word without a name is for the first input that has no value yet. The value of a dynamic input is a
    list with one item for each of its words. Raises ArgumentError, which quotes the word that cannot be used.
    """
    rng = np.random.default_rng(seed)
    names = [one.name for one in definition.inputs]
    dynamic = {one.name for one in definition.inputs if one.kind == "dynamic"}
    values: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign:
            free = [one for one in names if one not in values]
            if not free:
                raise ArgumentError(f"--in {word}: {definition.type} has {len(names)} inputs", hint=", ".join(names))
            name, text = free[0], word
        if name not in names:
            raise ArgumentError(
                f"--in {word}: {definition.type} has no input '{name}'", hint=f"inputs: {', '.join(names)}"
            )
        value = None if text == _ABSENT else array_of("--in", word, text, rng)
        if name in dynamic:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise ArgumentError(f"--in {word}: '{name}' is given twice")
        else:
            values[name] = value
    return values


def attributes_of(definition: OpDefinition, words: Sequence[str]) -> dict[str, Any]:
    """Return the attributes of words such as ``eps=1e-5`` and ``axes=0,2``, by name, in the definition's types.

    Raises ArgumentError for an unknown attribute or a value of another type.
    """
    declared = {one.name: one for one in definition.attributes}
    values = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or name not in declared:
            listed = ", ".join(f"{one.name} ({one.type})" for one in definition.attributes) or "none"
            raise ArgumentError(f"--attr {word}: no such attribute", hint=f"name=value; attributes: {listed}")
        values[name] = _value(declared[name], word, text)
    return values


def outputs_of(definition: OpDefinition, words: Sequence[str]) -> Any:
    """Return outputs as a list (``float32[8]``) or by name (``y=float32[8]``, ``mean=none``); None without words.

    By name, each word for a dynamic output is one tensor. Raises ArgumentError for an unknown name, a name that is
    given twice, or a text that is no array.
    """
    named: dict[str, Any] = {}
    kinds = {one.name: one.kind for one in definition.outputs}
    if not words:
        return None
    if not any("=" in word for word in words):
        return [out(*array_type_of("--out", word, word)) for word in words]
    for word in words:
        name, _, text = word.partition("=")
        if name not in kinds:
            raise ArgumentError(f"--out {word}: {definition.type} has no output '{name}'", hint=", ".join(kinds))
        value = None if text == _ABSENT else out(*array_type_of("--out", word, text))
        tensors = named.get(name)
        if name in named and (tensors is None or value is None or kinds[name] != "dynamic"):
            raise ArgumentError(f"--out {word}: '{name}' is given twice")
        named[name] = value if kinds[name] != "dynamic" or value is None else [*(tensors or ()), value]
    return named


def _value(attribute: OpAttribute, word: str, text: str) -> Any:
    kind = attribute.type.removeprefix("list_")
    try:
        if attribute.type == "list_list_int":
            rows = text.strip("[] ").split("],[")
            return tuple(tuple(int(part) for part in row.split(",") if part.strip()) for row in rows)
        if attribute.type.startswith("list"):
            return tuple(_one(kind, part) for part in text.strip("[]() ").split(",") if part.strip())
        return _one(kind, text)
    except ValueError:
        raise ArgumentError(f"--attr {word}: '{text}' is no {attribute.type}") from None


def _one(kind: str, text: str) -> Any:
    if kind == "string":
        return text
    if kind == "bool":
        known = {"true": True, "1": True, "false": False, "0": False}
        if text.strip().lower() not in known:
            raise ValueError(text)
        return known[text.strip().lower()]
    return float(text) if kind == "float" else int(text, 0)


def attribute_text(value: Any) -> str:
    """Return an attribute's value as the text after ``name=`` that ``attributes_of`` reads."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple) and any(isinstance(one, tuple) for one in value):
        return ",".join(f"[{attribute_text(one)}]" for one in value)
    return ",".join(map(attribute_text, value)) if isinstance(value, tuple) else str(value)


def as_command(path: str, words: Sequence[tuple[str, str]]) -> str:
    """Return the shell command for a call of the project at ``path``: ``gnt project run P --in ...``."""
    options = " ".join(f"{option} {shlex.quote(text)}" for option, text in words)
    return f"gnt project run {shlex.quote(path)} {options}".rstrip()
