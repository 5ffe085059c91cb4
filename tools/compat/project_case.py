"""A kernel beside its host files, tried with the tiling that its own project gives: for ``tools.compat``.

Shapes, numbers and attributes are invented; what they mean for the kernel, the project's tiling function decides.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Limits
from gn_tutorial.cpp.entries import scan
from gn_tutorial.errors import ArgumentError, CompileError, GntError, KernelError, KernelFault
from gn_tutorial.operators.arguments import Out, as_dtype
from gn_tutorial.projects.call import OpCall
from gn_tutorial.projects.dtype_columns import Form, dtype_name
from gn_tutorial.projects.parameters import Parameter
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.tiling_plan import TilingPlan
from tools.compat.reasons import Reason, of_compile_error, of_invented_launch, of_run_error

COMPILED, RAN, FAILED = "compiled", "ran", "failed"
#: Tried in this order until the project takes one: a matrix, a line, images, one with a tail.
_SHAPES = ((8, 2048), (2048,), (2, 32, 16, 16), (4, 8, 100))
#: Of the file's folder, above it: op_kernel, and one for an architecture.
_FOLDERS_UP = 3


def project_of(path: Path, kernels: tuple[str, ...]) -> Project | None:
    """The operator whose kernel the file is, where ``op_host`` stands beside ``op_kernel``; None without one."""
    for folder in path.resolve().parents[:_FOLDERS_UP]:
        if (folder.parent / "op_host").is_dir() and folder.name.startswith("op_kernel"):
            return _of_kernels(folder.parent, path.resolve(), {name.split("<")[0].split("::")[-1] for name in kernels})
    return None


def _of_kernels(root: Path, path: Path, names: set[str]) -> Project | None:
    try:
        types = Project(root).layout.op_types()
    except ArgumentError as error:
        types = tuple(word.strip() for word in error.what.partition("operators: ")[2].split(",") if word.strip())
    for one in types:
        try:
            found = Project(root, one)
            if found.definition.snake_name in names and found.kernel_file == path:
                return found
        except GntError:
            continue  # the kernel is then tried as one that stands alone
    return None


def try_project(project: Project, seconds: float, *, run: bool) -> tuple[str, tuple[Reason, ...]] | None:
    """Try the project's kernel; return a status of ``tools.compat``, and the reasons.

    None where its tiling takes no invented call and the kernel is a template, or the host files do not compile.
    """
    planned, refused = _planned(project)
    if planned is None:
        planned = _untiled(project)
    if planned is None:
        return None
    call, plan = planned
    try:
        project.kernel(call, plan).build()
    except CompileError as error:
        return FAILED, of_compile_error(error)
    except GntError as error:
        return FAILED, (Reason("language", error.what, error.where),)
    if refused is not None:
        return COMPILED, (Reason("arguments", f"tiling takes no invented call: {refused.what}", refused.where),)
    if not run:
        return COMPILED, ()
    try:
        project.launch(call, plan, limits=Limits(seconds=seconds))
    except KernelFault as fault:
        # Shapes of several inputs must fit one another, and only the operator's author knows how.
        invented = sum(group is not None for group in call.arrays) > 1
        return COMPILED, (of_invented_launch(fault) if invented else of_run_error(fault),)
    except KernelError as error:
        return COMPILED, (of_run_error(error),)
    except GntError as error:
        return COMPILED, (Reason("arguments", error.what, error.where),)
    return RAN, ()


def _planned(project: Project) -> tuple[tuple[OpCall, TilingPlan] | None, GntError | None]:
    """Return the first call that tiling takes, with its plan, and None; otherwise None and the last refusal."""
    refused: GntError | None = None
    for shape in _SHAPES:
        for outputs in (None, shape):  # without InferShape the outputs get the inputs' shape
            try:
                call = _call(project, shape)
                given = None if outputs is None else [_like(call, index, shape) for index, _ in call.output_tensors]
                return (call, project.host.plan(call, given, look_for_unset=False)), None
            except (ArgumentError, KernelError, CompileError) as error:
                refused = error
    return None, refused


def _untiled(project: Project) -> tuple[OpCall, TilingPlan] | None:
    try:
        text = project.layout.texts[project.kernel_file]
        if not any(entry.name == project.definition.snake_name for entry in scan(text).entries):
            return None
        call = _call(project, _SHAPES[0])
        return call, project.host.untiled(call)
    except GntError:
        return None


def _like(call: OpCall, index: int, shape: tuple[int, ...]) -> Out:
    return Out(shape, as_dtype(dtype_name(call.column.outputs[index].dtype)))


def _call(project: Project, shape: tuple[int, ...]) -> OpCall:
    definition, rng = project.definition, np.random.default_rng(0)
    columns = definition.columns(project.soc.config).columns
    values = {
        declared.name: _invented(declared, form, shape, rng)
        for declared, form in zip(definition.inputs, columns[0].inputs, strict=True)
    }
    zeros = {"bool": False, "int": 1, "float": 1.0, "string": ""}
    needed = {one.name: zeros.get(one.type, []) for one in definition.attributes if one.required}
    return project.call(**values, **needed)


def _invented(declared: Parameter, form: Form, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Small numbers, in every type; None for an input that may be left out, two tensors of a list."""
    if declared.optional:
        return None
    array = rng.integers(0, 8, shape).astype(as_dtype(dtype_name(form.dtype)))
    return [array, array] if declared.kind == "dynamic" else array
