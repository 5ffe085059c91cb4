"""Kernels to build, run and call: ``kernel("group_norm/scalar")``, ``kernel(path)``, ``kernel(source=...)``."""

from __future__ import annotations

import copy
import dataclasses
import difflib
import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gn_tutorial.abi.options import Limits, Optimise, TwinOptions
from gn_tutorial.abi.structs import Role
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.compiler.address_spaces import SpaceCheck
from gn_tutorial.compiler.build import Built, SourceOptions
from gn_tutorial.cpp.entries import Entry, find_entries, require_entries, scan
from gn_tutorial.diagnostics.findings import Findings, kernel_fault
from gn_tutorial.errors import ArgumentError, RegistryError, printable, shown
from gn_tutorial.operators import call_plan, space_findings
from gn_tutorial.operators.arguments import launch_args
from gn_tutorial.operators.registry import find_kernel, is_operator
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.shapes import describe_call
from gn_tutorial.operators.source_build import SOURCE_SUFFIXES, SourceBuild
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.operators.tiling import Tiling
from gn_tutorial.runtime.launch import launch, traced
from gn_tutorial.runtime.launch_types import LaunchRequest, check_blocks
from gn_tutorial.tables import html_table
from gn_tutorial.timing.machine import default_cores

# Finding the entries in a source of 200 lines takes 6 ms, which a loop of launches should pay only once.
_entries = functools.lru_cache(maxsize=64)(require_entries)
_OPTIONS, _LIMITS = TwinOptions(), Limits()


class Kernel:
    """One Ascend C source and its entries. ``kernel`` makes the object; ``build`` or the first run compiles it."""

    def __init__(
        self,
        name: str,
        *,
        path: Path | None = None,
        text: str | None = None,
        op: OpSpec | None = None,
        spec: KernelSpec | None = None,
        optimise: Optimise | None = None,
        **how: Any,
    ) -> None:
        """Take a file or text, what is registered of it, and fields of ``SourceOptions``."""
        self.name, self.path, self.op, self.spec = name, path, op, spec
        self._source = SourceBuild(path, text, SourceOptions(**how), optimise=optimise)

    @classmethod
    def registered(cls, op: OpSpec, spec: KernelSpec, *, optimise: Optimise | None = None) -> Kernel:
        """Return the kernel of one registry entry."""
        return cls(spec.id, path=spec.file, op=op, spec=spec, optimise=optimise)

    @property
    def source(self) -> str:
        """The source text; a file is read again when it was edited."""
        return self._source.text

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The kernels that the source defines. Raises CompileError, which shows an example, if there is none."""
        place, text, headers = self._place(), self.source, self._source.headers()
        if scan(text, headers).broken:
            self.build()  # the compiler explains the syntax error
        return _entries(text, place, self._source.how.template, headers)

    def entry(self, name: str | None = None) -> Entry:
        """Return the entry called ``name``.

        None stands for the registered entry, for the entry of the given template, or for the only entry. Raises
        ArgumentError, which lists all entries, if none or several fit.
        """
        entries = self.entries
        if name is None and self.spec is not None:
            name = self.spec.entry
        if name is None and self._source.how.template:  # the template's arguments were given, so the template is meant
            name = entries[-1].name
        found = [entry for entry in entries if name in (None, entry.name)]
        if len(found) == 1:
            return found[0]
        listed = ", ".join(entry.name for entry in entries)
        if found:
            raise ArgumentError("the source has several kernels", where=self._place(), hint=f"entry= one of {listed}")
        raise ArgumentError(f"the source has no kernel '{name}'", where=self._place(), hint=f"it has {listed}")

    def build(self, observed: bool = True, array_bytes: int = 0) -> Built:
        """Return the library, compiled or from the cache. observed=False: the bare build, without checks and counts.

        array_bytes: the bytes of the launch's arrays, which decide how to optimise (see ``kernel``).
        Raises CompileError with the errors at the source's own lines, CompilerMissing, CacheError.
        """
        return self._source.build(observed, array_bytes)

    def check_spaces(self) -> SpaceCheck:
        """Return where types lose ``__gm__`` or ``__ubuf__``. Needs clang; else the outcome says that it lacks.

        Raises the errors of ``build``, except for errors of the compiler.
        """
        return self._source.check_spaces()

    def with_ub(self, ub_bytes: int) -> Kernel:
        """Return this kernel, built for a chip whose Unified Buffer has that many bytes."""
        other = copy.copy(self)
        other._source = self._source.with_ub(ub_bytes)
        return other

    def run(
        self,
        *values: Any,
        blocks: int | None = None,
        entry: str | None = None,
        tiling_key: int = 0,
        observed: bool = True,
        isolated: bool = True,
        options: TwinOptions | None = None,
        limits: Limits | None = None,
        tracing: Tracing | None = None,
        **named: Any,
    ) -> Result:
        """Launch with one value for each kernel parameter, in order or by name; return the result.

        An array is an input; ``out(shape, dtype)``, ``inout(array)`` and ``workspace(bytes)`` make the other arrays;
        numbers go by value; a Tiling, a ``ctypes.Structure`` or a NumPy structured scalar is passed as its bytes; None
        is a null pointer. Arrays may be float32, float16, bfloat16 (ml_dtypes), bool and integers; others are refused.

        blocks: cores to run on; None: all cores of the default chip for a file, and one for source text, because a
        kernel in a notebook's cell mostly does not divide its work. tiling_key: the number for TILING_KEY_IS.
        observed: use the build with checks and counts. isolated: launch in a separate process, so that a crash or an
        endless loop becomes an exception; False is faster, for trusted kernels. tracing: record what the blocks do,
        into ``result.trace``. Options that name a finding of the address spaces, as strict ones do, also check these.
        Raises ArgumentError before anything is launched, CompileError, and KernelError for what the kernel does wrong.
        """
        chosen = self.entry(entry)
        if blocks is None:
            blocks = default_cores() if self.path else 1
        if tracing is not None and not observed:
            raise ArgumentError("a bare build records no events, so it cannot be traced", hint="observed=True")
        bound = self._bind(chosen, values, named)
        request = LaunchRequest(
            entry=chosen.name,
            args=launch_args(chosen.params, bound),
            blocks=blocks,
            tiling_key=tiling_key,
            options=_OPTIONS if options is None else options,
            isolated=isolated,
            limits=_LIMITS if limits is None else limits,
            tracing=tracing,
        )
        built = self._source.quickly(observed, request.nbytes, isolated=isolated)
        launched = launch(built.library, request)
        spaces = self.check_spaces() if space_findings.asks(request.options) else None
        if spaces is not None and spaces.findings:
            found = Findings((*launched.diagnostics, *space_findings.findings_of(spaces, request.options)))
            if any(one.severity == "error" for one in found):
                raise kernel_fault(found, launched.printed)
            launched = dataclasses.replace(launched, diagnostics=found)
        seconds = 0.0 if built.cached else built.seconds
        overwrites = not isolated and any(arg.role == Role.INOUT for arg in request.args)
        again = None if overwrites else functools.partial(traced, built.library, request)
        return Result(
            self.name, blocks, launched, compile_seconds=seconds, args=request.args, again=again, spaces=spaces
        )

    def __call__(
        self,
        *inputs: Any,
        blocks: int | None = None,
        observed: bool = True,
        isolated: bool = True,
        options: TwinOptions | None = None,
        limits: Limits | None = None,
        tracing: Tracing | None = None,
        tiling: Tiling | None = None,
        **named: Any,
    ) -> Result:
        """Call a registered kernel as its operator: inputs in order or by name, attributes by name.

        ``kernel("group_norm/scalar")(x, gamma, beta, num_groups=4)`` returns y, mean and rstd. An optional input may
        be left out or None. ``blocks`` limits the cores; the tiling decides how many of them have work. ``tiling``
        replaces the struct that the host function fills: ``k.tiling(x, num_groups=4).with_(tileElements=512)``. The
        rest is as in ``run``.
        Raises ArgumentError if the kernel is not registered, or if an argument's type, dtype, shape or value does not
        fit; RegistryError if the kernel's parameters are not those of its ``op.toml``; and the errors of ``run``.
        """
        op, spec = self._registered()
        if blocks is not None:
            check_blocks(blocks)
        plan = call_plan.plan(op, spec, inputs, named, cores=blocks)
        if tiling is not None:
            plan = call_plan.retiled(op, plan, tiling)
        self._check_signature(op)
        if plan.blocks == 0:
            return call_plan.empty_result(self.name, plan, observed)
        result = self.run(
            blocks=plan.blocks,
            observed=observed,
            isolated=isolated,
            options=options,
            limits=limits,
            tracing=tracing,
            **plan.values,
        )
        return call_plan.finish(op, plan, result)

    def tiling(self, *inputs: Any, blocks: int | None = None, **named: Any) -> Tiling:
        """Return the tiling struct that a call with these arguments passes.

        Raises ArgumentError if the operator has no struct; and the errors of ``call_plan.plan``.
        """
        op, spec = self._registered()
        plan = call_plan.plan(op, spec, inputs, named, cores=blocks)
        if plan.tiling is None:
            raise ArgumentError(f"'{op.name}' has no tiling struct: its numbers are passed by value")
        return plan.tiling

    def _registered(self) -> tuple[OpSpec, KernelSpec]:
        if self.op is None or self.spec is None:
            raise ArgumentError(
                f"'{self.name}' is not registered, so it cannot be called as an operator",
                hint="k.run(x, y=gnt.out(x.shape)) takes one value for each kernel parameter",
            )
        return self.op, self.spec

    def _check_signature(self, op: OpSpec) -> None:
        """Raise RegistryError if the registry has other parameters or another order: values would be swapped."""
        actual = [param.name for param in self.entry().params]
        expected = [argument.name for argument in op.arguments]
        if actual != expected:
            raise RegistryError(
                f"the kernel's parameters are ({', '.join(actual)}), its op.toml says ({', '.join(expected)})",
                where=self._place(),
                hint="make one of them equal to the other",
            )

    def _bind(self, entry: Entry, values: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        names = [param.name for param in entry.params]
        signature = f"{entry.name}({', '.join(f'{p.ctype} {p.name}' for p in entry.params)})"
        if len(values) > len(names):
            raise ArgumentError(f"{len(values)} values for {len(names)} parameters", where=signature)
        bound = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"parameters: {', '.join(names)}"
                raise ArgumentError(f"the kernel has no parameter '{name}'", where=signature, hint=hint)
            if name in bound:
                raise ArgumentError(f"parameter '{name}' is given twice", where=signature)
            bound[name] = value
        missing = [name for name in names if name not in bound]
        if missing:
            hint = f"{missing[0]}=gnt.out(shape, dtype) for an output, an array for an input, a number for a value"
            raise ArgumentError(f"parameters without a value: {', '.join(missing)}", where=signature, hint=hint)
        return bound

    def _place(self) -> str:
        return str(self.path) if self.path else f"source of '{self.name}'"

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("file", str(self.path) if self.path else "source text")]
        for entry in find_entries(self.source, self._source.headers()):
            rows.append(("entry", f"{entry.name}({', '.join(f'{p.ctype} {p.name}' for p in entry.params)})"))
        if self.op is not None and self.spec is not None:
            rows.insert(0, ("call", describe_call(self.op)))
            rows.insert(1, ("step", f"{self.spec.step}: {self.spec.title}"))
        return rows

    def __repr__(self) -> str:
        return "\n".join([f"kernel {self.name}", *(f"  {label}: {text}" for label, text in self._rows())])

    def _repr_html_(self) -> str:
        return html_table((), self._rows(), caption=f"kernel {self.name}")


def kernel(
    name_or_path: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    template: str = "",
    dtypes: Mapping[str, str] | None = None,
    defines: Sequence[str] = (),
    includes: Sequence[str | os.PathLike[str]] = (),
    optimise: Optimise | None = None,
) -> Kernel:
    """Return a kernel: by its registered name, by a path, or from source text (a notebook's cell).

    ``kernel("group_norm/scalar")``, ``kernel("my_kernel.cpp")``, ``kernel(source="...")``; ``kernel("my_softmax")``
    takes a folder that ``gnt new`` made. For a file or text: template="float, 16" gives the arguments of its kernel
    template. dtypes={"x": "float16"} defines DTYPE_X, ORIG_DTYPE_X and FORMAT_X. defines=["NAME=VALUE"] defines other
    macros. includes are files to read before the source, as in a project.

    optimise=True compiles for speed (-O3). "little" compiles in a third of the time, but launches run slower. "soonest"
    is "little" unless a fast library is in the cache. False is -O0 -g, for a debugger. None is "soonest" for an
    observed launch of 64 MiB or less, else True.
    Raises RegistryError, with the closest names, if there is no such kernel or file; ArgumentError unless exactly one
    of name and source is given, for an argument of a wrong type, and if a registered kernel is given template, dtypes,
    defines or includes.
    """
    _check_types(name_or_path, source, template, dtypes, defines)
    how = {"template": template, "dtypes": dtypes, "defines": tuple(defines), "optimise": optimise}
    how["includes"] = [Path(one) for one in includes]
    for path in how["includes"]:
        if not path.is_file():
            raise RegistryError(f"there is no file {path}", hint="includes are read before the kernel's file")
    if (name_or_path is None) == (source is None):
        raise ArgumentError("kernel() needs a name or a path, or source=, but not both")
    if source is not None:
        source = source.removeprefix("\ufeff")
        entries = find_entries(source)
        return Kernel(entries[0].name if entries else "source", text=source, **how)
    if isinstance(name_or_path, str) and "\n" in name_or_path:
        raise ArgumentError("this looks like source text, not a name", hint="kernel(source=text)")
    path = Path(name_or_path)  # type: ignore[arg-type]
    if is_operator(path) or (isinstance(name_or_path, str) and path.suffix not in SOURCE_SUFFIXES):
        if template or dtypes or defines or includes:
            raise ArgumentError(
                "template, dtypes, defines and includes belong to a file or source text, not to a registered kernel"
            )
        return Kernel.registered(*find_kernel(str(name_or_path)), optimise=optimise)
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        raise RegistryError(f"{path} is {what}", hint="a kernel is a .cpp file: a pipe or a device is not read")
    if not path.is_file():
        beside = [item.name for item in path.parent.glob("*") if item.suffix in SOURCE_SUFFIXES]
        near = difflib.get_close_matches(path.name, beside, n=1)
        hint = f"did you mean {path.parent / near[0]}?" if near else f"looked in {path.parent.resolve()}"
        raise RegistryError(f"there is no file {path}", hint=hint)
    return Kernel(path.stem, path=path.resolve(), **how)


def _check_types(name_or_path: object, source: object, template: object, dtypes: object, defines: object) -> None:
    """Raise ArgumentError if an argument of ``kernel`` has a wrong type, as ``source=b"..."`` has."""
    if not isinstance(name_or_path, (str, os.PathLike, type(None))):
        raise ArgumentError(f"a kernel is found by a name or a path, not by {shown(name_or_path, 60)}")
    if not isinstance(source, (str, type(None))):
        hint = 'source.decode("utf-8")' if isinstance(source, (bytes, bytearray)) else ""
        raise ArgumentError(f"source= is text, not {type(source).__name__}", hint=hint)
    if not isinstance(template, str):
        raise ArgumentError(f"template= is the text between < and >, not {template!r}", hint='template="float, 16"')
    if not isinstance(dtypes, (Mapping, type(None))):
        raise ArgumentError(f"dtypes= says the dtype of each input, not {dtypes!r}", hint='dtypes={"x": "float16"}')
    listed = isinstance(defines, (list, tuple)) and all(isinstance(one, str) for one in defines)
    if not listed or any("\0" in one or one != printable(one) for one in defines):
        raise ArgumentError(f"defines= is a list of texts, not {defines!r}", hint='defines=["NAME=VALUE"]')
