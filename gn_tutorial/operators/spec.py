"""The specifications of an operator, its arguments and its kernels, which ``registry`` reads from ``op.toml``."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from gn_tutorial.compare.tolerance import Tolerance

Role = Literal["in", "out", "inout", "workspace", "tiling", "value"]
AttributeType = Literal["int64", "float32", "mask", "choice"]
#: helper: a kernel that the host API launches around an operator. case: a further operator, worked out as the steps of
#: GroupNorm are. Neither is a step of the course, and the tour leaves both out.
Direction = Literal["forward", "backward", "helper", "case"]
#: As ``Argument.dtype``, this stands for the dtype of the operator's data inputs, one of the kernel's ``dtypes``.
DATA_DTYPE = "T"


class Attribute(Struct, frozen=True, forbid_unknown_fields=True):
    """An argument of an operator that is not an array, such as ``num_groups``; shapes and tiling call it ``symbol``.

    A ``mask`` has one boolean for each output, in the outputs' order: whether the caller wants this output. An output
    that is not wanted comes back with shape (0,). The symbol of a mask is a whole number whose bit i is set if output i
    is wanted. A ``choice`` is one of the words ``choices``; its symbol is the word's index among them.
    """

    name: str
    symbol: str
    type: AttributeType
    default: float | int | str | tuple[Any, ...] | None = None
    choices: tuple[str, ...] = ()


class Argument(Struct, frozen=True, forbid_unknown_fields=True):
    """One kernel parameter, in the order of the kernel's signature.

    ``shape`` is a tuple of symbols. One symbol may end in ``...``: ``S...`` stands for all axes that the other symbols
    leave, and ``S`` for the product of their lengths. An output with ``like`` has the shape and dtype of that input.
    ``fill`` is the value of all elements of an input that the caller leaves out; None: the input is required.
    ``symbol`` is the symbol whose value a by-value parameter receives. ``bytes`` is the size of a workspace: a number,
    or the name of a field of the tiling struct. ``saved_by`` names another operator's reference. The test data for this
    input are the output of the same name that this reference computes from the other inputs: the mean and rstd that a
    backward pass gets must belong to its x, so they cannot be random.
    """

    name: str
    role: Role
    dtype: str = DATA_DTYPE
    shape: tuple[str, ...] | None = None
    like: str = ""
    fill: float | int | None = None
    symbol: str = ""
    bytes: int | str = 0
    saved_by: str = ""


class TilingSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The C++ header, struct and function that split the work.

    ``arguments``: the symbols to pass to the function: symbols of the inputs' shapes, symbols of attributes, ``cores``,
    or ``dtype``, the dtype of the data inputs as CANN numbers it (ge::DataType: 0 float32, 1 float16, 27 bfloat16).
    ``blocks``: the struct's field with the number of blocks to launch. ``group``: its field with the number of elements
    in a group, which a kernel must read completely before it writes any part of it; "" if there are no groups.
    """

    header: Path
    struct: str
    function: str
    arguments: tuple[str, ...]
    blocks: str
    group: str = ""


class KernelSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One registered kernel of an operator. ``id`` is ``"<operator>/<short name>"``; ``file`` is absolute.

    ``tiling``: the kernel's own tiling function; "" if it uses the operator's. Header and struct are the operator's,
    and so are the arguments unless ``tiling_arguments`` names others.
    """

    id: str
    title: str
    file: Path
    entry: str
    step: int
    dtypes: tuple[str, ...]
    tolerance: Tolerance
    tiling: str = ""
    tiling_arguments: tuple[str, ...] = ()


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """One of the launches that a fused operator replaces.

    kernel: the id of the launched kernel. arrays: maps each input and output of that kernel to an array of the fused
    operator. An array that passes from one part to the next has a name that only the parts use.
    """

    kernel: str
    arrays: dict[str, str]


class OpSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """One operator: its arguments, attributes, reference and kernels (ordered by ``step``).

    ``file``: the registry file of the operator. ``replaces``: for a fused operator, the launches that together compute
    the same outputs. ``capstone``: for a learner's solution of the capstone, the operator that it implements (softmax,
    layer_norm, rms_norm); ``gnt grade`` uses the course's shapes, reference and tolerance for it.
    """

    name: str
    title: str
    summary: str
    order: int
    reference: str
    direction: Direction
    file: Path
    attributes: tuple[Attribute, ...]
    arguments: tuple[Argument, ...]
    tiling: TilingSpec | None
    kernels: tuple[KernelSpec, ...]
    example: dict[str, Any]
    replaces: tuple[Part, ...] = ()
    capstone: str = ""

    @property
    def in_tour(self) -> bool:
        """Whether the tour runs its kernels."""
        return self.direction in ("forward", "backward")

    @property
    def group(self) -> str:
        """The tiling field with the number of elements in a group (``TilingSpec``); "" if there are no groups."""
        return self.tiling.group if self.tiling else ""

    @functools.cached_property
    def mask(self) -> Attribute | None:
        """The attribute that selects outputs; None if every call returns all."""
        return next((a for a in self.attributes if a.type == "mask"), None)

    @property
    def folder(self) -> Path:
        """The folder of the operator's file, kernels and headers."""
        return self.file.parent

    @functools.cached_property
    def inputs(self) -> tuple[Argument, ...]:
        """The arrays that the caller gives, in order."""
        return tuple(a for a in self.arguments if a.role in ("in", "inout"))

    @functools.cached_property
    def outputs(self) -> tuple[Argument, ...]:
        """The arrays that a call returns, in the order in which the reference returns them too."""
        return tuple(a for a in self.arguments if a.role in ("out", "inout"))

    def tiling_of(self, kernel: KernelSpec) -> TilingSpec | None:
        """Return the operator's tiling, with the function and arguments of ``kernel`` if the kernel has its own.

        Return None if the operator has no tiling.
        """
        if self.tiling is None:
            return None
        return replace(
            self.tiling,
            function=kernel.tiling or self.tiling.function,
            arguments=kernel.tiling_arguments or self.tiling.arguments,
        )
