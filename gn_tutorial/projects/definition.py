"""Reads an operator's definition: the registrations in the host files of a project (OpDef, OP_ADD, IMPL_OP).

The twin's ``gn_twin/op_host/describe.h`` writes the document that ``read_definitions`` reads. Fields have the names of
the document's members. Types and formats have the graph engine's names (``DT_FLOAT16``, ``FORMAT_ND``).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects.dtype_columns import Column, Columns, combine, dtype_name
from gn_tutorial.projects.parameters import Chip, OpAttribute, Parameter, Value

_T = TypeVar("_T")


@dataclass(frozen=True)
class OpDefinition:
    """One operator type. functions: registered functions that the twin calls.

    graph_functions: registered functions that only the graph engine calls. defined_at: ``file:line`` of each OP_ADD;
    empty if the files register only functions, and then the operator has no parameters. compile_info_bytes: the size of
    the type that the tiling parse function fills, 0 if there is none. groups: the communication groups (MC2).
    data_dependencies, tiling_data_dependencies, outputs_depending_on_compute: indices that IMPL_OP names.
    """

    type: str
    defined_at: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    graph_functions: tuple[str, ...] = ()
    compile_info_bytes: int = 0
    max_tiling_bytes: int = 2048
    data_dependencies: tuple[int, ...] = ()
    tiling_data_dependencies: tuple[int, ...] = ()
    outputs_depending_on_compute: tuple[int, ...] = ()
    private_attributes: Mapping[str, Value] = field(default_factory=dict)
    inputs: tuple[Parameter, ...] = ()
    outputs: tuple[Parameter, ...] = ()
    attributes: tuple[OpAttribute, ...] = ()
    chips: tuple[Chip, ...] = ()
    launches_empty: bool = False
    fallback: bool = False
    strict_format: bool = False
    groups: tuple[str, ...] = ()
    ai_cpu: Mapping[str, str] = field(default_factory=dict)
    host_cpu: Mapping[str, str] = field(default_factory=dict)
    comments: tuple[tuple[str, str], ...] = ()

    @cached_property
    def snake_name(self) -> str:
        """The name of the operator's files and of its kernel: ``NLLLoss`` -> ``nll_loss``."""
        return snake_name(self.type)

    @cached_property
    def in_place(self) -> frozenset[str]:
        """Names of tensors that are both input and output: the kernel reads and overwrites the caller's tensor."""
        return frozenset(one.name for one in self.inputs) & frozenset(one.name for one in self.outputs)

    @property
    def written(self) -> frozenset[str]:
        """Names of the inputs that the kernel may write: those in place, or all inputs of an operator without outputs.

        An operator without outputs, such as Eye in contests, writes its result into its input.
        """
        return self.in_place if self.outputs else frozenset(one.name for one in self.inputs)

    def input(self, name: str) -> Parameter:
        """Return the input of that name. Raises ArgumentError if there is none."""
        return self._named(name, self.inputs, "input")

    def output(self, name: str) -> Parameter:
        """Return the output of that name. Raises ArgumentError if there is none."""
        return self._named(name, self.outputs, "output")

    def reads_values(self, index: int) -> bool:
        """Whether host functions read the values of input ``index``, and not only its shape and type."""
        depend = (*self.data_dependencies, *self.tiling_data_dependencies)
        return bool(self.inputs[index].value_depend) or index in depend

    def build_dtypes(self, column: Column) -> dict[str, str]:
        """Return the dtypes, by name, for which a build of the kernel for ``column`` defines macros such as DTYPE_X."""
        dtypes = {name: dtype_name(label) for name, label in column.dtypes().items()}
        # CANN's build also defines these names for outputs in place (asc-devkit, tools/build/asc_op_compile_base).
        return dtypes | {f"{name}_ref": dtypes[name] for name in self.in_place}

    def columns(self, chip: str) -> Columns:
        """Return the combinations of dtypes and formats on ``chip``, an AddConfig name such as ``ascend910b``.

        Without an AddConfig for this chip, the columns are those of the first AddConfig. Without any AddConfig, they
        are those of the operator's own parameters. In both cases ``Columns.note`` says so. Raises RegistryError as
        ``combine`` does.
        """
        wanted = chip.lower()
        entry = next((one for one in self.chips if one.name.lower() == wanted), None)
        note = ""
        if entry is None and self.chips:
            entry = self.chips[0]
            names = ", ".join(one.name for one in self.chips)
            note = (
                f"{self.type} has no AddConfig for {chip}, only for {names}: the columns of {entry.name} are used. "
                f'On {chip} the operator would not be found; add this->AICore().AddConfig("{chip}");'
            )
        elif entry is None:
            note = (
                f'{self.type} names no chip: on a device it would not be found. Add this->AICore().AddConfig("{chip}");'
            )
        inputs, outputs = (entry.inputs, entry.outputs) if entry else (self.inputs, self.outputs)
        where = self.defined_at[0] if self.defined_at else self.type
        found = combine(inputs, outputs, where)
        return Columns(op_type=self.type, chip=chip, entry=entry.name if entry else "", note=note, columns=found)

    def _named(self, name: str, among: tuple[Parameter, ...], role: str) -> Parameter:
        for one in among:
            if one.name == name:
                return one
        names = ", ".join(one.name for one in among) or "none"
        raise ArgumentError(f"{self.type} has no {role} '{name}'", hint=f"its {role}s: {names}")


def snake_name(op_type: str) -> str:
    """Return the name that CANN gives an operator type's files: ``MatMul`` -> ``mat_mul``, ``NLLLoss`` -> ``nll_loss``.

    A word begins at a capital after a small letter or a digit. If a small letter follows several capitals, a word also
    begins at the last of them.
    """
    return re.sub(r"(?<=[^A-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op_type).lower()


def read_definitions(document: str) -> dict[str, OpDefinition]:
    """Return operator type -> definition, in the order of registration. document: the JSON that describe.h writes.

    Raises RegistryError if a type is defined more than once. CANN gives no error then, even if the definitions differ.
    """
    found = {}
    for one in json.loads(document)["operators"]:
        definition = _frozen(OpDefinition, one)
        if len(definition.defined_at) > 1:
            raise RegistryError(
                f"{definition.type} is defined {len(definition.defined_at)} times",
                where=", ".join(definition.defined_at),
                hint="keep one OP_ADD; an old copy of a file in op_host is compiled too",
            )
        found[definition.type] = definition
    return found


_PARTS = {"inputs": Parameter, "outputs": Parameter, "attributes": OpAttribute, "chips": Chip}


def _frozen(cls: type[_T], members: Mapping[str, Any]) -> _T:
    known = {one.name for one in dataclasses.fields(cls)}  # type: ignore[arg-type]
    assert members.keys() <= known, f"describe.h writes what {cls.__name__} lacks: {members.keys() - known}"
    return cls(**{name: _part(name, value) for name, value in members.items()})


def _part(name: str, value: Any) -> Any:
    if name in _PARTS:
        return tuple(_frozen(_PARTS[name], one) for one in value)
    return _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value
