"""Loads and calls a user's reference, a function from a file or a library: of a project's outputs, or of a kernel's."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.projects.call import OpCall
from gn_tutorial.projects.dtype_columns import dtype_name

#: rtol and atol of each dtype are the same number.
TOLERANCE = Tolerance(
    rtol=0.0,
    atol=0.0,
    reason="whole numbers are exact",
    narrow=tuple(
        (dtype, Tolerance(rtol=most, atol=most, reason=why))
        for dtype, most, why in (
            ("float32", 1e-4, "the verifiers of the official exercises"),
            ("float16", 1e-3, "the verifiers of the official exercises"),
            ("bfloat16", 2.0**-8, "one rounding to bfloat16"),
        )
    ),
)


def tolerance(rtol: float | None, atol: float | None) -> Tolerance:
    """Return TOLERANCE; if rtol or atol is given, a tolerance for all dtypes instead, with 0 for the missing number."""
    if rtol is None and atol is None:
        return TOLERANCE
    return Tolerance(rtol=rtol or 0.0, atol=atol or 0.0, reason="given by the caller")


def load_reference(name: str) -> Callable[..., Any]:
    """Return the function ``file.py:function``, or a function of an installed library, such as ``numpy.sinh``.

    Raises ArgumentError if there is no such function, or if its file or library cannot be imported.
    """
    file, colon, function = name.rpartition(":")
    if colon and file.endswith(".py"):
        module = _of_file(Path(file))
    else:
        library, _, function = name.rpartition(".")
        module = _of_library(library, name)
    found = getattr(module, function, None)
    if not callable(found):
        raise ArgumentError(
            f"the reference {name}: there is no function '{function}'", hint="file.py:function, torch.histc"
        )
    return found


def expected(function: Callable[..., Any], call: OpCall) -> list[np.ndarray]:
    """Return the reference's outputs for this call, in order, without those that the call leaves out.

    Inputs are passed in the definition's order, floating-point ones as float64, absent ones as None, dynamic ones as
    lists. An attribute is passed by name if the function has that parameter, takes any keyword, or does not list its
    parameters. A function of torch gets tensors. A floating-point value beyond the range of an output's dtype becomes
    infinity, as in the operator. If the function returns another number of outputs than the definition or the call has,
    they are returned unchanged. Raises ArgumentError if the function raises; the message quotes the function's error.
    """
    inputs = [
        [_wide(one) for one in group or ()] if declared.kind == "dynamic" else _wide(group[0]) if group else None
        for declared, group in zip(call.definition.inputs, call.arrays, strict=True)
    ]
    made = _called(function, inputs, _accepted(function, {name: value for name, _, value in call.attributes}))
    listed = made if isinstance(made, (tuple, list)) else [made]
    dtypes = [dtype_name(call.column.outputs[index].dtype) for index, _ in call.output_tensors]
    arrays = [np.asarray(one) for one in _present(call, listed)]
    if len(arrays) != len(dtypes):
        return arrays  # the comparison reports the wrong number of outputs
    return [_within_range(array, dtype) for array, dtype in zip(arrays, dtypes, strict=True)]


def expected_by_name(
    function: Callable[..., Any], inputs: Mapping[str, Any], outputs: Mapping[str, tuple[tuple[int, ...], np.dtype]]
) -> dict[str, np.ndarray]:
    """Return the reference's outputs of a kernel, by name.

    inputs: arrays and numbers by the kernel's parameter names; the function gets those that it has parameters for, as
    keywords, floating-point arrays as copies in float64. A function that does not list its parameters, or takes them
    by position only, gets the arrays in order. outputs: shape and dtype of each output. The function returns an array,
    several in the order of ``outputs``, or a mapping by name, which may leave some out. Raises ArgumentError if the
    function raises, asks for what the kernel does not have, or returns something else.
    """
    wide = {name: _wide(np.array(one)) if isinstance(one, np.ndarray) else one for name, one in inputs.items()}
    asked = _by_keyword(function)
    if asked is None:
        made = _called(function, [one for one in wide.values() if isinstance(one, np.ndarray)], {})
    else:
        unknown = [one.name for one in asked if one.default is one.empty and one.name not in wide]
        if unknown:
            raise ArgumentError(
                f"the reference asks for {', '.join(unknown)}",
                hint=f"it gets the kernel's inputs by their names: {', '.join(wide) or 'there are none'}",
            )
        made = _called(function, [], _accepted(function, wide))
    return {name: _fitting(name, one, *outputs[name]) for name, one in _named(made, list(outputs)).items()}


def _by_keyword(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the function's named parameters; None if it does not list them, or takes some by position only."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None  # a function written in C
    if any(one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL) for one in parameters):
        return None
    return [one for one in parameters if one.kind is not one.VAR_KEYWORD]


def _named(made: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the outputs that a reference returned, by name. Raises ArgumentError for unknown ones, or too many."""
    if isinstance(made, Mapping):
        unknown = [str(name) for name in made if name not in names]
        if unknown or not made:
            raise ArgumentError(
                f"the reference returned {', '.join(unknown) or 'an empty dict'}",
                hint=f"the kernel's outputs are {', '.join(names)}",
            )
        return dict(made)
    listed = made if isinstance(made, (tuple, list)) else [made]
    if len(listed) != len(names):
        raise ArgumentError(
            f"the reference returned {len(listed)} output{'s' * (len(listed) != 1)}, and the kernel has {len(names)}",
            hint=f"return a tuple in this order: {', '.join(names)}; or a dict by name",
        )
    return dict(zip(names, listed, strict=True))


def _fitting(name: str, made: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return one output of a reference as an array. Raises ArgumentError for another shape, or what is no number."""
    array = np.asarray(made)
    if made is None or array.dtype.kind in "OSUMmc":
        what = "None" if made is None else f"an array of {array.dtype}" if array.ndim else f"a {type(made).__name__}"
        raise ArgumentError(f"the reference returned {what} for {name}", hint="an array of numbers, with return")
    if array.shape != shape:
        raise ArgumentError(
            f"the reference returned {name} with the shape {array.shape}, and the kernel's has {shape}",
            hint=f"reshape it, or give that shape: --out {name}={dtype.name}[{','.join(map(str, array.shape))}]",
        )
    return _within_range(array, dtype.name)


def _called(function: Callable[..., Any], inputs: Sequence[Any], named: dict[str, Any]) -> Any:
    """Return what the function returns. Raises ArgumentError, with the line of the user's file, if it raises."""
    try:
        return _through_torch(function, inputs, named) if _of_torch(function) else function(*inputs, **named)
    except (Exception, SystemExit) as error:
        code = getattr(inspect.unwrap(function), "__code__", None)
        raise _failed("the reference failed", error, code.co_filename if code else "") from error


def _failed(what: str, error: BaseException, file: str) -> ArgumentError:
    """Return the error of a user's file, with its innermost line in that file."""
    lines = [(one.lineno, one.line) for one in traceback.extract_tb(error.__traceback__) if one.filename == file]
    said: object = error
    if isinstance(error, SyntaxError) and error.filename == file:  # no line of the file has run
        lines, said = [(error.lineno, error.text)], error.msg
    where, line = (f"{file}:{lines[-1][0]}", (lines[-1][1] or "").strip()) if lines else (file, "")
    return ArgumentError(f"{what}: {type(error).__name__}: {said}", where=where, detail=f"    {line}" if line else "")


def _present(call: OpCall, made: Sequence[Any]) -> Sequence[Any]:
    """Return ``made`` without the outputs that the call leaves out.

    If the reference did not return every output of the definition, ``made`` stays unchanged.
    """
    counts = [
        many if one.kind == "dynamic" else 1 for one, many in zip(call.definition.outputs, call.counts, strict=True)
    ]
    if 0 not in call.counts or len(made) != sum(counts):
        return made
    flat = [bool(many) for count, many in zip(counts, call.counts, strict=True) for _ in range(count)]
    return [one for one, there in zip(made, flat, strict=True) if there]


def _within_range(array: np.ndarray, dtype: str) -> np.ndarray:
    if array.dtype.kind != "f" or dtype not in DTYPES or as_dtype(dtype).kind in "iub":
        return array
    with np.errstate(over="ignore"):
        narrow = array.astype(as_dtype(dtype)).astype(np.float64)
    return np.where(np.isinf(narrow), narrow, array)


def _of_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("gnt_reference", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ArgumentError(f"there is no file {path}", hint="--reference file.py:function")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _failed("the reference's file failed", error, spec.origin or str(path)) from error
    return module


def _of_library(library: str, name: str) -> Any:
    try:
        return importlib.import_module(library)
    except (ImportError, ValueError) as error:
        hint = (
            "./gnt torch installs PyTorch"
            if library.startswith("torch")
            else "file.py:function, numpy.sinh, torch.histc"
        )
        raise ArgumentError(f"the reference {name} cannot be imported: {error}", hint=hint) from None


def _wide(array: np.ndarray) -> np.ndarray:
    return array if array.dtype.kind in "iub" else array.astype(np.float64)


def _accepted(function: Callable[..., Any], attributes: dict[str, Any]) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return attributes  # a function written in C does not list its parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return attributes
    names = {one.name for one in parameters}
    return {name: value for name, value in attributes.items() if name in names}


def _through_torch(function: Callable[..., Any], inputs: Sequence[Any], attributes: dict[str, Any]) -> Any:
    torch = importlib.import_module("torch")
    tensors = [
        [torch.from_numpy(np.array(part)) for part in one]
        if isinstance(one, list)
        else None
        if one is None
        else torch.from_numpy(np.array(one))
        for one in inputs
    ]
    made = function(*tensors, **attributes)
    return [one.numpy() for one in made] if isinstance(made, (tuple, list)) else made.numpy()


def _of_torch(function: Callable[..., Any]) -> bool:
    """Whether a function is torch's. A function in C may name no module; then the object to which it is bound does."""
    module = (
        getattr(function, "__module__", None) or getattr(getattr(function, "__self__", None), "__module__", "") or ""
    )
    return str(module).startswith("torch")
