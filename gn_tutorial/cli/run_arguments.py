"""Turns the options of ``gnt run``, ``profile``, ``bench`` and similar commands into the values of a call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype, inout, out, workspace
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.spec import KernelSpec, OpSpec


@dataclass(frozen=True)
class Call:
    """A call of a registered kernel, as the options after ``gnt run group_norm/scalar`` describe it."""

    op: OpSpec
    spec: KernelSpec
    shape: tuple[int, ...]
    dtype: str
    attributes: dict[str, Any]

    def arrays(self, seed: int) -> dict[str, np.ndarray]:
        """Return random inputs by name, made from the seed."""
        return random_inputs.inputs(self.op, self.shape, seed=seed, dtype=self.dtype, attributes=self.attributes)


def is_file(target: str) -> bool:
    """Whether the target is a learner's file: it then has a suffix, and a registered name has none."""
    return bool(Path(target).suffix)


def refuse(target: str, given: Mapping[str, Any]) -> None:
    """Raise ArgumentError if an option in ``given`` has a value, because the option is for another kind of target.

    If such an option were ignored, it would seem to work.
    """
    for option, value in given.items():
        if value not in (None, "", []):
            kind = (
                "a file: give its arguments with --arg and --out"
                if is_file(target)
                else "registered: use --shape, --set"
            )
            raise ArgumentError(f"{option} does not apply, because {target} is {kind}")


def parse_call(target: str, shape: str, groups: int | None, settings: Sequence[str], dtype: str) -> Call:
    """Return a call. Shape and attributes default to the table [example] in op.toml, the dtype to the kernel's first.

    Raises ArgumentError, which quotes the word that cannot be read, and RegistryError for an unknown kernel.
    """
    op, spec = find_kernel(target)
    attributes = {a.name: op.example[a.name] for a in op.attributes if a.name in op.example}
    if groups is not None:
        attributes["num_groups"] = groups
    for setting in settings:
        name, value = _pair("--set", setting)
        words = any(one.name == name and one.type == "choice" for one in op.attributes)
        attributes[name] = value if words else _number("--set", setting, value)
    lengths = parse_shape(shape) if shape else tuple(op.example["shape"])
    return Call(op, spec, lengths, dtype or spec.dtypes[0], attributes)


def parse_shape(text: str) -> tuple[int, ...]:
    """Return the shape (2, 8, 16, 16) for ``2,8,16,16`` or ``2x8x16x16``. Raises ArgumentError for other words."""
    parts = re.split(r"[,x]", text.strip("()[] "))
    try:
        return tuple(int(part) for part in parts if part.strip())
    except ValueError:
        raise ArgumentError(f"'{text}' is no shape", hint="for example 2,8,16,16") from None


def parse_values(
    args: Sequence[str], outs: Sequence[str], inouts: Sequence[str], workspaces: Sequence[str], seed: int
) -> dict[str, Any]:
    """Return the values for a learner's kernel, by parameter name.

    ``x=float32[4096]`` is an array of random numbers, ``x=@file.npy`` the array of the file, ``n=4096`` a number.
    A workspace is given by its number of bytes. Raises ArgumentError for a word that cannot be read, and for a name
    that is given twice.
    """
    rng = random_inputs.generator(seed)
    values: dict[str, Any] = {}

    def put(option: str, text: str, make: Any) -> None:
        name, value = _pair(option, text)
        if name in values:
            raise ArgumentError(f"'{name}' is given twice")
        values[name] = make(option, text, value)

    for text in args:
        put("--arg", text, lambda option, whole, value: _input(option, whole, value, rng))
    for text in outs:
        put("--out", text, lambda option, whole, value: out(*array_type_of(option, whole, value)))
    for text in inouts:
        put("--inout", text, lambda option, whole, value: inout(array_of(option, whole, value, rng)))
    for text in workspaces:
        put("--workspace", text, lambda option, whole, value: workspace(_number(option, whole, value)))
    return values


def parse_element(text: str) -> tuple[str, tuple[int, ...]]:
    """Return an element's name and indices: ("y", (0, 37)) for ``y[0, 37]``. Raises ArgumentError for other texts."""
    found = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*\[\s*(-?\d{1,18}(?:\s*,\s*-?\d{1,18})*)\s*\]\s*", text, re.ASCII)
    if not found:
        raise ArgumentError(f"--origin {text}: no element of an output", hint="--origin 'y[0, 37]'")
    return found[1], tuple(int(one) for one in found[2].split(","))


def parse_types(texts: Sequence[str]) -> dict[str, str]:
    """Return a map of name to dtype for texts such as ``x=float16``. Raises ArgumentError, quoting a wrong text."""
    return dict(_pair("--type", text) for text in texts)


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise ArgumentError(f"{option} {text}: a name, '=' and a value are needed")
    return name.strip(), value.strip()


def _number(option: str, whole: str, text: str) -> int | float:
    for convert in (lambda: int(text, 0), lambda: float(text)):
        try:
            return convert()
        except ValueError:
            continue
    raise ArgumentError(f"{option} {whole}: '{text}' is no number")


def array_type_of(option: str, whole: str, text: str) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape and the dtype of a text such as ``float32[2,8]``.

    whole: the word of the command line. Raises ArgumentError, which quotes ``whole`` or the part that cannot be read.
    """
    match = re.fullmatch(r"(\w+)\[([\d,x ]*)\]", text)
    if not match:
        raise ArgumentError(
            f"{option} {whole}: '{text}' is no array", hint="for example float32[2,8,16]; quote it in zsh"
        )
    return parse_shape(match.group(2)), as_dtype(match.group(1))


def array_of(option: str, whole: str, text: str, rng: np.random.Generator) -> np.ndarray:
    """Return a random array for ``float32[2,8]``, or the file's array for ``@file.npy``. Raises ArgumentError.

    ``bfloat16@file.npy`` reads the file's bits as bfloat16, a dtype that .npy files cannot name.
    """
    dtype_name, sign, path = text.partition("@")
    if not sign:
        shape, dtype = array_type_of(option, whole, text)
        return random_inputs.random_array(rng, shape, dtype)
    try:
        array = np.load(path, allow_pickle=False)
        return array.view(as_dtype(dtype_name)) if dtype_name else array
    except (OSError, ValueError, EOFError) as error:
        raise ArgumentError(f"{option} {whole}: cannot read the array: {error}") from None


def _input(option: str, whole: str, text: str, rng: np.random.Generator) -> Any:
    is_array = "@" in text or "[" in text
    return array_of(option, whole, text, rng) if is_array else _number(option, whole, text)
