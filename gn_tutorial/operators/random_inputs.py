"""Makes seeded random inputs for a registered operator, and its reference's outputs, for ``gnt run`` and the tests."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial import reference
from gn_tutorial.cpp.source_text import source_text
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.memory_check import require_room
from gn_tutorial.operators.shapes import input_shapes
from gn_tutorial.operators.spec import DATA_DTYPE, Argument, OpSpec

#: The bytes of memory for each random number: it is drawn as a float64, and scaling makes a second float64.
_DRAWN_BYTES = 16


def generator(seed: Any) -> np.random.Generator:
    """Return a random generator with this seed. Raises ArgumentError unless the seed is a whole number from 0 on."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError(f"a seed is a whole number from 0 on, not {seed!r}")
    return np.random.default_rng(seed)


def random_array(rng: np.random.Generator, shape: Sequence[int], dtype: Any, channels: int | None = None) -> np.ndarray:
    """Return random numbers. In a float array, every slice along the channels' axis has its own mean and spread.

    channels: the index of that axis; None for axis 1, or axis 0 of a vector.

    A kernel that swaps channels, forgets to subtract the mean, or applies one channel's gamma to another, is then
    wrong by much more than a tolerance. Signed integers lie within -100 .. 100, unsigned ones within 0 .. 200, in every
    slice. About half of all booleans are True. Raises ArgumentError for a dtype or size that an array cannot have.
    """
    found = as_dtype(dtype)
    require_room("a random array of this shape", shape, _DRAWN_BYTES)
    if found.kind in "iub":
        values = rng.integers(-100, 101, shape) if found.kind == "i" else rng.integers(0, 201, shape)
        return np.asarray(values > 100 if found.kind == "b" else values, found)
    axis = channels if channels is not None else min(1, len(shape) - 1)
    per_slice = [length if index == axis else 1 for index, length in enumerate(shape)]
    mean, spread = rng.uniform(-3.0, 3.0, per_slice), rng.uniform(0.5, 2.0, per_slice)
    # asarray, because for a shape without axes NumPy returns a scalar.
    return np.asarray(rng.standard_normal(shape) * spread + mean, found)


def inputs(
    op: OpSpec,
    shape: Sequence[int],
    *,
    seed: int = 0,
    dtype: str = "float32",
    attributes: Mapping[str, Any] | None = None,
    lengths: Mapping[str, int] | None = None,
) -> dict[str, np.ndarray]:
    """Return an array for each input of ``op``: a random one, or a computed one for an input with ``saved_by``.

    shape: the first input's. dtype: of the data inputs; an input with a dtype of its own in the registry keeps it.
    attributes: of the call, by name; an operator with a ``saved_by`` input needs them. lengths: symbol -> length, for
    lengths that neither shape nor attributes fix; the default is the operator's example. Raises ArgumentError for a
    seed, shape, dtype or attribute that does not fit; RegistryError as ``saved`` does.
    """
    if any(length < 0 for length in shape):
        raise ArgumentError(f"a shape cannot be negative: {tuple(shape)}")
    rng = generator(seed)
    shapes = input_shapes(op, shape, attributes, lengths)
    arrays = {
        a.name: random_array(
            rng, shapes[a.name], dtype if a.dtype == DATA_DTYPE else a.dtype, _channels(a, shapes[a.name])
        )
        for a in op.inputs
        if not a.saved_by
    }
    return {a.name: saved(a, arrays, attributes or {}) if a.saved_by else arrays[a.name] for a in op.inputs}


def saved(argument: Argument, arrays: Mapping[str, np.ndarray], attributes: Mapping[str, Any]) -> np.ndarray:
    """Return the array for an input with ``saved_by``: another operator's reference returns it under the same name.

    arrays, attributes: of our operator, by name; the reference gets those that are among its parameters. Raises
    RegistryError if the registry names a reference that does not exist or has no such output.
    """
    forward = getattr(reference, argument.saved_by, None)
    known = {**arrays, **attributes}
    taken = {name: known[name] for name in inspect.signature(forward).parameters if name in known} if forward else {}
    array = getattr(forward(**taken), argument.name, None) if forward else None
    if array is None:
        raise RegistryError(f"gn_tutorial.reference has no '{argument.saved_by}' that returns '{argument.name}'")
    return array.astype(as_dtype(argument.dtype))


def _channels(argument: Argument, shape: Sequence[int]) -> int | None:
    """Return the index of the channels' axis if it is the last axis, else None."""
    return len(shape) - 1 if len(shape) > 1 and (argument.shape or ("",))[-1] == "C" else None


def expected(op: OpSpec, arrays: Mapping[str, np.ndarray], attributes: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the reference's outputs for these inputs: name -> array. An output that a mask excludes is empty.

    Raises RegistryError if the registry names a reference that does not exist or has another number of outputs.
    """
    answer = _reference(op)(*(arrays.get(argument.name) for argument in op.inputs), **attributes)
    values = [answer] if isinstance(answer, np.ndarray) else list(answer)
    if len(values) != len(op.outputs):
        raise RegistryError(f"the reference '{op.reference}' returns {len(values)} arrays", where=str(op.file))
    values = [np.empty(0) if value is None else np.asarray(value) for value in values]
    return {output.name: value for output, value in zip(op.outputs, values, strict=True)}


def _reference(op: OpSpec) -> Callable[..., Any]:
    file, colon, name = op.reference.partition(":")
    found = getattr(reference, op.reference, None) if not colon else _of_file(op.folder / file).get(name)
    if found is None:
        where = op.folder / file if colon else op.file
        raise RegistryError(f"{file if colon else 'gn_tutorial.reference'} has no '{name or file}'", where=str(where))
    return found


def _of_file(path: Path) -> dict[str, Any]:
    """Return name -> value of what a learner's file defines. Raises RegistryError if the file cannot be executed.

    The file is read each time, because it may have been edited.
    """
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(source_text(path), str(path), "exec"), names)
    except Exception as error:
        raise RegistryError(f"the reference cannot be read: {type(error).__name__}: {error}", where=str(path)) from None
    return names
