"""Computes the combinations of dtypes and formats that an operator supports: its definition's columns, on one chip.

Source: docs/zh/api, Utils-API/原型注册与管理/OpParamDef. DataType and Format are paired by index; a DataTypeList or a
FormatList is combined with every column. Follow copies another input's dtype, format or both. To names a dtype, or the
input whose dtype it copies. The default format is ND.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects.parameters import Parameter

_NAMES = {one.label: one.name for one in DTYPES.values() if one.label}
_LABELS = {one.name: one.label for one in DTYPES.values() if one.label}


def dtype_name(label: str) -> str:
    """Return NumPy's name of a graph engine's type: ``DT_BF16`` -> ``bfloat16``; any other type keeps its label."""
    return _NAMES.get(label, label)


def dtype_label(name: str) -> str:
    """Return the graph engine's label of a dtype; a label stays unchanged. Raises ArgumentError for other names."""
    if name.startswith("DT_"):
        return name
    if name not in _LABELS:
        raise ArgumentError(f"the graph engine has no type for {name!r}", hint=f"one of {', '.join(_LABELS)}")
    return _LABELS[name]


@dataclass(frozen=True)
class Form:
    """One parameter in one column: its type and its format, by the graph engine's names."""

    name: str
    dtype: str
    format: str


@dataclass(frozen=True)
class Column:
    """One combination: a Form for each input and each output, in the order of the definition."""

    index: int
    inputs: tuple[Form, ...]
    outputs: tuple[Form, ...]

    def dtypes(self) -> dict[str, str]:
        """Return the dtype label of every output and input, by name. An output in place has the label of its input."""
        return {one.name: one.dtype for one in (*self.outputs, *self.inputs)}

    def __str__(self) -> str:
        inputs, outputs = (
            ", ".join(f"{one.name} {dtype_name(one.dtype)}" for one in forms) for forms in (self.inputs, self.outputs)
        )
        return f"{inputs or 'no input'} -> {outputs or 'no output'}"


@dataclass(frozen=True)
class Columns:
    """The columns of an operator on a chip.

    entry: the chip name of the AddConfig that has the columns; "" for none. note: a warning with its remedy if
    ``entry`` is not this chip; else "".
    """

    op_type: str
    chip: str
    entry: str
    note: str
    columns: tuple[Column, ...]

    def column_of(self, dtypes: Mapping[str, str], formats: Mapping[str, str] | None = None) -> Column:
        """Return the first column with these dtypes (``{"x": "float16"}`` or labels) and, if given, formats.

        The names are those of inputs and outputs. A parameter that is not named, such as an absent optional input, may
        have any dtype. A column with only ND formats is preferred to an earlier one. Raises ArgumentError for an
        unknown name or dtype, and if no column fits.
        """
        known = {form.name for column in self.columns for form in (*column.inputs, *column.outputs)}
        asked = formats or {}
        for name in (*dtypes, *asked):
            if name not in known:
                raise ArgumentError(
                    f"{self.op_type} has no parameter '{name}'", hint=f"its own: {', '.join(sorted(known))}"
                )
        labels = {name: dtype_label(dtype) for name, dtype in dtypes.items()}
        fitting = [one for one in self.columns if _fits(one, labels, asked)]
        if not fitting:
            wanted = ", ".join(f"{name} {dtype_name(label)}" for name, label in labels.items())
            raise ArgumentError(
                f"{self.op_type} does not support {wanted or 'these formats'} on {self.entry or self.chip}",
                where="; ".join(sorted({str(one) for one in self.columns})),
                hint="call it with one of these combinations, or add a column to DataType and Format of each parameter",
            )
        return next((one for one in fitting if _plain(one)), fitting[0])


def _fits(column: Column, labels: Mapping[str, str], formats: Mapping[str, str]) -> bool:
    # If a name is an input and an output, both have to match.
    return all(
        labels.get(form.name, form.dtype) == form.dtype and formats.get(form.name, form.format) == form.format
        for form in (*column.inputs, *column.outputs)
    )


def _plain(column: Column) -> bool:
    return all(form.format == "FORMAT_ND" for form in (*column.inputs, *column.outputs))


def combine(inputs: Sequence[Parameter], outputs: Sequence[Parameter], where: str) -> tuple[Column, ...]:
    """Return the columns of these parameters; ``where`` names the definition in errors.

    Raises RegistryError if lists differ in length, if a parameter has no type or follows a name that is no input, or if
    parameters follow each other in a circle.
    """
    everything = [*inputs, *outputs]
    count = _common_length(everything, where)
    axes = [(one, what) for one in everything for what in ("every_dtype", "every_format") if _axis(one, what)]
    found = []
    for index in range(count):
        for chosen in itertools.product(*(_axis(one, what) for one, what in axes)):
            picked = {(id(one), what): value for (one, what), value in zip(axes, chosen, strict=True)}
            by_name = {one.name: one for one in inputs}
            forms = [_form(one, index, picked, by_name, where) for one in everything]
            found.append(Column(len(found), tuple(forms[: len(inputs)]), tuple(forms[len(inputs) :])))
    return tuple(found)


def _axis(one: Parameter, what: str) -> tuple[str, ...]:
    return one.every_dtype if what == "every_dtype" else one.every_format


def _common_length(params: Sequence[Parameter], where: str) -> int:
    lengths = {
        f"{what} of '{one.name}'": len(listed)
        for one in params
        for what, listed in (("DataType", one.dtypes), ("Format", one.formats))
        if listed
    }
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise RegistryError(
            "the lists of a definition differ in length, and their entries go together by index",
            where=f"{where}: {listed}",
            hint="give every DataType and Format as many entries, or use DataTypeList and FormatList",
        )
    return next(iter(lengths.values()), 1)


def _followed(one: Parameter, what: str, inputs: Mapping[str, Parameter], where: str) -> Parameter:
    """Return the parameter that sets this one's dtype or format: itself, or the end of its chain of Follow and To."""
    chain = [one]
    while True:
        last = chain[-1]
        name = last.follow if last.follow_what in ("all", what) else ""
        if what == "dtype" and (last.to_input or last.to_dtype):
            name = last.to_input
        if not name:
            return last
        target = inputs.get(name)
        if target is None or any(target is known for known in chain):
            raise RegistryError(
                f"'{last.name}' follows '{name}', which is no other input",
                where=where,
                hint="Follow and To name an input that is defined before it",
            )
        chain.append(target)


def _form(
    one: Parameter, index: int, picked: Mapping[tuple[int, str], str], inputs: Mapping[str, Parameter], where: str
) -> Form:
    types, formats = (_followed(one, what, inputs, where) for what in ("dtype", "format"))
    # A scalar may be converted. Its type here is the type that the kernel gets, not the type that the caller passes.
    dtype = types.to_dtype or (types.dtypes[index] if types.dtypes else picked.get((id(types), "every_dtype"), ""))
    layout = formats.formats[index] if formats.formats else picked.get((id(formats), "every_format"), "FORMAT_ND")
    if not dtype:
        raise RegistryError(
            f"'{one.name}' has no type",
            where=where,
            hint="add .DataType({...}); types that an operator chooses itself (SetOpSelectFormat) are for graphs only",
        )
    return Form(one.name, dtype, layout)
