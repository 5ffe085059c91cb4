"""Runs a user's operator project (算子工程) unchanged: ``gnt.project(path)`` returns it, to be called with arrays.

The project's folder is only read. The host files are compiled with the twin's headers for host code and run in a
separate process. The kernel is built for the dtypes of the call, with the tiling struct, and launched like any kernel.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi import severities
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compiler.cache import default_cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.compiler.cached_library import Kept
from gn_tutorial.compiler.project_build import build_project_host
from gn_tutorial.cpp.entries import scan
from gn_tutorial.cpp.queries import calls, registered_structs
from gn_tutorial.cpp.structs import injected_header
from gn_tutorial.errors import ArgumentError, shown
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.projects.call import OpCall, bind, kernel_arguments, kernel_outputs
from gn_tutorial.projects.chips import Soc, find_soc, knows_soc, soc_of_configs
from gn_tutorial.projects.definition import OpDefinition, read_definitions
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.host_call import HostError, describe
from gn_tutorial.projects.layout import Layout, read_layout, uses_matrix_cores
from gn_tutorial.projects.outputs import chosen_outputs
from gn_tutorial.projects.planning import HostSide
from gn_tutorial.projects.tiling_plan import TilingPlan
from gn_tutorial.tables import html_table, text_table


class Project:
    """One operator of a project. Arguments and errors are those of the function ``project``, which makes a Project."""

    def __init__(self, path: str | Path, op: str = "", soc: str = "") -> None:
        if not isinstance(path, (str, Path)):
            raise ArgumentError(f"gnt.project takes the path of a folder, not {shown(path, 60)}")
        layout = read_layout(Path(path))
        types = layout.require_operators()
        if op and op not in types:
            raise ArgumentError(f"{layout.named} has no operator '{op}'", hint=f"it has {', '.join(types)}")
        if not op and len(types) > 1:
            raise ArgumentError(
                f"{layout.named} has {len(types)} operators: {', '.join(types)}",
                hint=f"choose one: --op {types[0]}, op={types[0]!r}",
            )
        self.name: str = op or types[0]
        self.layout: Layout = layout.of(self.name)
        self._soc = find_soc(soc) if soc else None
        matrix = uses_matrix_cores(self.layout)
        if matrix is not None:
            raise ArgumentError(
                f"{self.name} computes on the matrix cores (Cube), which the twin does not have",
                where=str(matrix),
                hint="the twin runs vector operators; matrix ones (Matmul) are out of its scope",
            )

    @cached_property
    def soc(self) -> Soc:
        """The chip that the caller named, else the chip that ``soc_of_configs`` chooses. Raises as ``definition``."""
        return self._soc or soc_of_configs(one.name for one in self.definition.chips)

    def on(self, chip: str) -> Project:
        """Return the project for another chip, such as ``910b4``. If no such chip is known, return this project."""
        return Project(self.layout.named, self.name, chip) if knows_soc(chip) else self

    @cached_property
    def definition(self) -> OpDefinition:
        """The operator's definition in the host files.

        Raises CompileError with a line of these files; ArgumentError if none defines the operator with an input or an
        output; RegistryError if two define it; HostError if the code that defines it fails.
        """
        found = read_definitions(describe(self._library.path(), self.layout.hosts))
        if self.name not in found or not (found[self.name].inputs or found[self.name].outputs):
            raise ArgumentError(
                f"{self.name} has no definition with inputs or outputs (class {self.name} : public OpDef, OP_ADD)",
                where=", ".join(str(one) for one in self.layout.hosts),
                hint='this->Input("x")... and this->Output("y")... in its constructor, and OP_ADD behind the class',
            )
        return found[self.name]

    @cached_property
    def kernel_file(self) -> Path:
        """The source whose kernel is named after the operator, else the only kernel source.

        Raises ArgumentError if there is neither, and as ``definition``.
        """
        wanted = self.definition.snake_name
        named = [path for path in self.layout.kernels if wanted in _kernel_names(self.layout.texts[path])]
        if not named and len(self.layout.kernels) == 1:
            return self.layout.kernels[0]
        if not named:
            listed = ", ".join(path.name for path in self.layout.kernels) or "none"
            raise ArgumentError(
                f"no kernel is named '{wanted}', after the operator {self.name}",
                where=str(self.layout.named),
                hint=f'extern "C" __global__ __aicore__ void {wanted}(...); files with kernels: {listed}',
            )
        # Several files may have a kernel of this name, because a file for another chip may include the same source.
        return min(named, key=lambda path: (path.stem != wanted, len(path.parts), path))

    @cached_property
    def host(self) -> HostSide:
        """The host side of the operator: inference and tiling. Raises as ``kernel_file``."""
        return HostSide(self.layout, self._library, self.kernel_file)

    @cached_property
    def _library(self) -> Kept:
        hosts, others, folders = self.layout.hosts, self.layout.elsewhere, self.layout.include_dirs
        return Kept(lambda: build_project_host(hosts, optional=others, include_dirs=folders).library)

    def call(self, /, *values: Any, **named: Any) -> OpCall:
        """Return a checked call with inputs in order or by name, and attributes by name.

        Raises ArgumentError if they do not fit the definition, and as ``definition``.
        """
        return bind(self.definition, self.soc, values, named)

    def infer(self, /, *values: Any, **named: Any) -> list[tuple[str, str, tuple[int, ...]]]:
        """Return name, dtype and shape of each output, as InferShape or Follow gives them. Raises as ``tiling``."""
        return self.host.infer(self.call(*values, **named))

    def tiling(self, /, *values: Any, out: Any = None, **named: Any) -> TilingPlan:
        """Return the plan that the project's tiling function makes for this call, with notes on its mistakes.

        out: one output or a list, each ``gnt.out(shape, dtype)`` or an array; without ``out``, Follow or InferShape
        decides. A mapping names outputs, and those that it does not name are inferred: ``{"mean": None}`` leaves the
        OPTIONAL output ``mean`` out. Raises HostError for a host function that fails, crashes or does not end; and
        ArgumentError, CompileError or RegistryError.
        """
        return self.host.plan(*chosen_outputs(self.call(*values, **named), out))

    def __call__(self, /, *values: Any, out: Any = None, blocks: int | None = None, **named: Any) -> Result:
        """Run the operator, and return its outputs by name.

        The project's tiling function is called, and its kernel is built for these dtypes and launched. The tensors of a
        DYNAMIC output are ``y[0]``, ``y[1]``. An output that is left out is not returned. out: as for ``tiling``.
        blocks: replaces the tiling's number of blocks. observed, isolated, options, limits and tracing are those of
        ``Kernel.run``. Raises as ``tiling`` and as ``launch``.
        """
        how = {name: named.pop(name) for name in _LAUNCH_OPTIONS if name in named}
        call, given = chosen_outputs(self.call(*values, **named), out)
        plan = self.host.plan(call, given, look_for_unset=False)  # only ``tiling`` shows the unset fields
        return self.launch(call, plan, blocks=blocks, **how)

    def launch(
        self,
        call: OpCall,
        plan: TilingPlan,
        *,
        blocks: int | None = None,
        held: Mapping[str, np.ndarray] | None = None,
        **how: Any,
    ) -> Result:
        """Launch the kernel as planned, and return the result.

        blocks: replaces the plan's number. held: the values of outputs before the launch, by name; other outputs are
        undefined. A finding of a rule that a device does not check becomes a warning, unless the options list it among
        the errors. Raises as ``Kernel.run``; HostError for a plan with an error among its notes, such as an unset
        number of blocks.
        """
        self.require(plan)
        how["options"] = _as_a_device(how.get("options") or TwinOptions(), self.soc)
        made = self.kernel(call, plan)
        wanted = self.definition.snake_name
        names = [one.name for one in made.entries]
        entry = made.entry(next((one for one in names if one.split("<")[0].split("::")[-1] == wanted), names[-1]))
        result = made.run(
            *kernel_arguments(call, plan, entry.params, held or {}, self.kernel_file),
            entry=entry.name,
            blocks=plan.blocks if blocks is None else blocks,
            tiling_key=plan.key,
            **how,
        )
        named = kernel_outputs(self.definition, plan, entry.params)
        made_by_name = {named[param]: array for param, array in result.outputs.items() if param in named}
        # Put the outputs into the definition's order, in which references return them. In the result of a launch the
        # tensors of lists come last.
        order = [name for name, _, _ in plan.outputs]
        arrays = {name: made_by_name[name] for name in (*order, *made_by_name) if name in made_by_name}
        return dataclasses.replace(result, launched=dataclasses.replace(result.launched, arrays=arrays))

    @staticmethod
    def require(plan: TilingPlan) -> None:
        """Raise HostError for a plan with an error among its notes, such as an unset number of blocks."""
        for note in plan.notes:
            if note.severity == "error":
                raise HostError(note.what, where=note.where, hint=note.fix)

    def kernel(self, call: OpCall, plan: TilingPlan) -> Kernel:
        """Return the kernel for the call. It is not built yet.

        The build defines a macro such as DTYPE_X for each input and output. The build of a kernel template gets the
        plan's template arguments. If the project defines the tiling struct by macros, the build includes a header with
        that struct. The kernel's Unified Buffer has the size of this project's chip.
        """
        header = self.layout.struct_header(plan.struct_name) if plan.struct_name else None
        by_macros = header is not None and any(calls(self.layout.texts[header], "BEGIN_TILING_DATA_DEF"))
        includes = (self._injected(plan, header),) if header and by_macros else ()
        made = Kernel(
            self.name,
            path=self.kernel_file,
            # Tiling may choose a template key for another chip's kernel, while the kernel for this chip is no template.
            template=plan.template if scan(self.layout.texts[self.kernel_file]).templates else "",
            dtypes=self.definition.build_dtypes(call.column),
            include_dirs=self.layout.include_dirs,
            includes=includes,
            launchers=False,
        )
        return made if self.soc.ub_bytes == find_soc().ub_bytes else made.with_ub(self.soc.ub_bytes)

    def _injected(self, plan: TilingPlan, header: Path) -> Path:
        """Return a generated header with a macro project's struct; ``header`` if the struct cannot be parsed."""
        registered = registered_structs(self.layout.texts[header], self.name)
        text = injected_header(self.name, plan.struct_name, self.layout.texts, tuple(registered))
        if text is None:
            return header
        return default_cache().keep_source(f"tiling_{checksum(text.encode())[:16]}.h", text)

    def rows(self) -> list[tuple[str, str]]:
        """Return the project's properties as rows of a table."""
        one = self.definition
        columns = one.columns(self.soc.config)
        rows = [("operator", f"{one.type} ({one.snake_name})"), ("folder", str(self.layout.named))]
        for role in ("inputs", "outputs"):
            for index, param in enumerate(getattr(one, role)):
                forms = [getattr(column, role)[index] for column in columns.columns]
                dtypes = ", ".join(dict.fromkeys(dtype_name(form.dtype) for form in forms))
                flags = [param.kind] if param.kind != "required" else []
                flags += ["its values are read by tiling"] if param.value_depend else []
                rows.append((f"{role[:-1]} {param.name}", f"{dtypes} ({', '.join(flags)})" if flags else dtypes))
        for attribute in one.attributes:
            default = "required" if attribute.required else f"default {attribute.default!r}"
            rows.append((f"attribute {attribute.name}", f"{attribute.type}, {default}"))
        rows.append(("chips", ", ".join(chip.name for chip in one.chips) or "none"))
        rows.append(("functions", ", ".join(one.functions) or "none"))
        rows.append(("kernel", str(self.kernel_file.relative_to(self.layout.root))))
        rows += [("host file", str(path.relative_to(self.layout.root))) for path in self.layout.hosts]
        return [*rows, ("note", columns.note)] if columns.note else rows

    def __repr__(self) -> str:
        return f"project {self.name}\n{text_table((), self.rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table((), self.rows(), caption=f"project {self.name}")


_LAUNCH_OPTIONS = ("observed", "isolated", "options", "limits", "tracing")


def _as_a_device(options: TwinOptions, soc: Soc) -> TwinOptions:
    # A project is written for a device, which does not check these rules, so a broken one is only a warning. Other
    # checks find the consequences.
    warnings = [one for one in severities.having("unchecked") if one not in options.errors]
    tail = "compared" if soc.compares_tails else options.compare_tail
    return dataclasses.replace(
        options,
        compare_tail=tail,
        cores=options.cores or soc.vector_cores + soc.vector_only_cores,
        warnings=tuple(dict.fromkeys([*options.warnings, *warnings])),
    )


def project(path: str | Path, op: str = "", soc: str = "") -> Project:
    """Return the operator project in ``path``: a folder with op_host and op_kernel, as msopgen makes it.

    Call the project with arrays: ``gnt.project("SinhCustom")(x)``. op: the operator; it is needed if the folder has
    several. soc: the chip whose cores and sizes tiling reads; empty: Ascend910B2, or the first known chip that
    AddConfig names if AddConfig names known chips and none is an Ascend910B. Raises ArgumentError if ``path`` is no
    folder or has no host file or operator, if ``op`` or ``soc`` is unknown, if ``op`` is empty and the folder has
    several operators, or if the operator computes on the matrix cores.
    """
    return Project(path, op, soc)


@functools.lru_cache(maxsize=64)
def _kernel_names(text: str) -> frozenset[str]:
    found = scan(text)
    return frozenset(one.name.split("::")[-1] for one in (*found.entries, *found.templates))
