"""The entries of an operator's definition: inputs, outputs, attributes, chips. A chip may have other inputs or outputs.

Fields are named as in the document that ``gn_twin/op_host/describe.h`` writes. The source of their meanings is
docs/zh/api, Utils-API/原型注册与管理, OpParamDef, OpAttrDef and OpAICoreDef.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Value = bool | int | float | str | tuple[Any, ...] | None


@dataclass(frozen=True)
class Parameter:
    """An input or an output. kind: required, optional, dynamic (a list of tensors), virtual.

    dtypes, formats: one entry for each column of the definition. every_dtype, every_format: entries that are combined
    with every column. query_dtypes, query_formats: for each column, dtype and format of the column whose binary is
    used. value_depend: whether host code reads the values: "", required, optional. depend_scope: tiling if only tiling
    reads them, else all. follow: the name of the parameter from which this one takes what ``follow_what`` says: dtype,
    format, shape, or all three. to_dtype, to_input: the dtype to which a scalar is converted, or the input that sets
    this dtype. initial: pairs of a dtype and the number that is written before the kernel runs. zeroed: whether zeros
    are written before the kernel runs. version: the version of the first aclnn function that has this parameter.
    """

    name: str
    kind: str = "required"
    dtypes: tuple[str, ...] = ()
    every_dtype: tuple[str, ...] = ()
    query_dtypes: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    every_format: tuple[str, ...] = ()
    query_formats: tuple[str, ...] = ()
    unknown_shape_formats: tuple[str, ...] = ()
    value_depend: str = ""
    depend_scope: str = "all"
    scalar: bool = False
    scalar_list: bool = False
    to_dtype: str = ""
    to_input: str = ""
    follow: str = ""
    follow_what: str = "all"
    auto_contiguous: bool = False
    ignore_contiguous: bool = False
    shape_depends_on_compute: bool = False
    version: int = 0
    zeroed: bool = False
    initial: tuple[tuple[str, float], ...] = ()
    comment: str = ""

    @property
    def optional(self) -> bool:
        """Whether a caller may leave this parameter out."""
        return self.kind in ("optional", "virtual")


@dataclass(frozen=True)
class OpAttribute:
    """An attribute. type: bool, float, int, string, list_bool, list_float, list_int, list_list_int.

    default: None if the definition has none; lists are tuples. version: as in Parameter.
    """

    name: str
    type: str
    required: bool = True
    default: Value = None
    version: int = 0
    comment: str = ""


@dataclass(frozen=True)
class Chip:
    """A chip that AddConfig names. settings: its flags and other settings, as text.

    inputs, outputs: the parameters on this chip.
    """

    name: str
    settings: Mapping[str, str]
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
